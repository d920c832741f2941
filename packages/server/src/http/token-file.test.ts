import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterEach, beforeEach, expect, test } from "vitest"

import { keepOutOfGit } from "./keep-out-of-git.ts"
import { readOrMakeToken } from "./token-file.ts"

let folder = ""
let file = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "meridian-token-"))
  file = join(folder, "state/http-token")
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test("a token is made once, in a file only its owner can read, and found again", () => {
  const token = readOrMakeToken(file)
  expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readOrMakeToken(file)).toBe(token)
  expect(readdirSync(join(folder, "state"))).toEqual(["http-token"])
})

test.each([0o644, 0o640, 0o602])("a token that others could read (mode %o) is replaced", (mode) => {
  const token = readOrMakeToken(file)
  chmodSync(file, mode)
  expect(readOrMakeToken(file)).not.toBe(token)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test.each(["", "short", "x".repeat(44), "a b".repeat(20)])(
  "a file that holds no token (%s) is replaced",
  (content) => {
    mkdirSync(join(folder, "state"))
    writeFileSync(file, content, { mode: 0o600 })
    expect(readOrMakeToken(file)).toMatch(/^[A-Za-z0-9_-]{43}$/)
  },
)

test("a link or a folder in its place is not followed", () => {
  mkdirSync(join(folder, "state"))
  writeFileSync(join(folder, "other"), `${"a".repeat(43)}\n`, { mode: 0o600 })
  symlinkSync(join(folder, "other"), file)
  expect(() => readOrMakeToken(file)).toThrow(expect.objectContaining({ code: "TOKEN_UNUSABLE" }))
  rmSync(file)
  mkdirSync(file)
  expect(() => readOrMakeToken(file)).toThrow(expect.objectContaining({ code: "TOKEN_UNUSABLE" }))
})

test("git is told to leave token and database alone, once, behind what the file says", () => {
  mkdirSync(join(folder, "state"))
  const ignore = join(folder, "state/.gitignore")
  writeFileSync(ignore, "# mine")
  keepOutOfGit(join(folder, "state"))
  keepOutOfGit(join(folder, "state"))
  expect(readFileSync(ignore, "utf8")).toBe("# mine\n/http-token*\n/engine.sqlite*\n")
})
