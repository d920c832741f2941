import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { expect, onTestFinished, test } from "vitest"

import { filesBeginning, imagesIn } from "./mentioned-files.ts"

const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-mention-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, "src"))
  writeFileSync(join(folder, "src/a.ts"), "")
  writeFileSync(join(folder, "shot.png"), "PNG")
  writeFileSync(join(folder, "empty.png"), "")
  writeFileSync(join(folder, ".hidden"), "")
  writeFileSync(join(folder, "two words.png"), "x")
  return folder
}

test("paths that begin so, folders with a slash, hidden ones only when asked for", () => {
  const folder = makeFolder()
  expect(filesBeginning(folder, "")).toEqual(["empty.png", "shot.png", "src/"])
  expect(filesBeginning(folder, "s")).toEqual(["shot.png", "src/"])
  expect(filesBeginning(folder, "src/")).toEqual(["src/a.ts"])
  expect(filesBeginning(folder, ".")).toEqual([".hidden"])
  expect(filesBeginning(folder, "nowhere/x")).toEqual([])
})

test("images named by path go along; what is missing, empty or a folder stays words", () => {
  const folder = makeFolder()
  const image = { mediaType: "image/png", base64: Buffer.from("PNG").toString("base64"), name: "shot.png" }
  expect(imagesIn("Look at @shot.png, and shot.png.", folder)).toEqual([image])
  expect(imagesIn(`See ${join(folder, "shot.png")}!`, folder)).toEqual([image])
  expect(imagesIn("missing.png empty.png src a.ts", folder)).toEqual([])
})
