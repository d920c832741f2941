import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { expect, onTestFinished, test } from "vitest"

import { filesBeginning } from "./files-beginning.ts"

test("finds paths with this beginning, folders with a slash, hidden ones only on request", () => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-mention-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, "src"))
  for (const name of ["src/a.ts", "shot.png", ".hidden", "two words.png"])
    writeFileSync(join(folder, name), "")
  expect(filesBeginning(folder, "")).toEqual(["shot.png", "src/"])
  expect(filesBeginning(folder, "s")).toEqual(["shot.png", "src/"])
  expect(filesBeginning(folder, "src/")).toEqual(["src/a.ts"])
  expect(filesBeginning(folder, ".")).toEqual([".hidden"])
  expect(filesBeginning(folder, "nowhere/x")).toEqual([])
})
