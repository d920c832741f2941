import { globSync, readFileSync } from "node:fs"

import { expect, test } from "vitest"

import { BEHAVIOURS } from "./behaviours.ts"

const files = globSync("{test,packages}/**/*.test.ts", { exclude: ["**/node_modules/**"] })
const cited = new Set(
  files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/verifies(?:OnFile|Sandbox)?\(\s*"([^"]+)"/g)].map(
      (match) => match[1],
    ),
  ),
)

test("every promised behaviour is proved by a test, or says why it is still owed", () => {
  const unproved = Object.entries(BEHAVIOURS).flatMap(([id, promise]) =>
    cited.has(id) === "owed" in promise ? [id] : [],
  )
  expect(unproved).toEqual([])
})

test("no test cites a promise nobody made", () => {
  expect([...cited].filter((id) => id !== undefined && !(id in BEHAVIOURS))).toEqual([])
})
