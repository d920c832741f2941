import { readFileSync } from "node:fs"

import { expect, test } from "vitest"

import { referencePages } from "./reference.ts"

test("the reference pages are those the operations and the catalogue make", () => {
  const pages = referencePages()
  expect([...pages.keys()]).toEqual([
    "docs/reference/cli.md",
    "docs/reference/errors.md",
    "docs/reference/files.md",
  ])
  for (const [path, text] of pages)
    // If this fails: node --conditions=meridian-source tools/reference.ts
    expect(readFileSync(path, "utf8") === text ? "current" : `${path} is stale`).toBe("current")
})
