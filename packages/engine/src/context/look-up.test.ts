import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { expect, test } from "vitest"

import { createLookUp } from "./look-up.ts"

const NOW = new Date("2030-01-02T00:00:00Z")
const QUIET = new Date("2030-01-01T00:00:00Z")

/** A folder without a change for a day. */
const openScene = () => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-look-"))
  const settle = (path: string): void => utimesSync(path, QUIET, QUIET)
  settle(folder)
  const { lookUp, together } = createLookUp(() => NOW.getTime())
  return {
    folder,
    settle,
    together,
    isThere: async (path: string): Promise<boolean> => lookUp(join(folder, path)) !== undefined,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

test("what was missing is found when it comes, at any depth", async () => {
  using scene = openScene()
  const { folder, isThere } = scene
  for (const path of ["AGENTS.md", "a/b/SKILL.md"])
    expect([await isThere(path), await isThere(path)]).toEqual([false, false])
  writeFileSync(join(folder, "AGENTS.md"), "x")
  mkdirSync(join(folder, "a"))
  expect([await isThere("AGENTS.md"), await isThere("a/b/SKILL.md")]).toEqual([true, false])
  mkdirSync(join(folder, "a", "b"))
  expect(await isThere("a/b/SKILL.md")).toBe(false)
  writeFileSync(join(folder, "a", "b", "SKILL.md"), "x")
  expect(await isThere("a/b/SKILL.md")).toBe(true)
})

test("what disappears is missed, and found when it comes back", async () => {
  using scene = openScene()
  const { folder, isThere, settle } = scene
  writeFileSync(join(folder, "AGENTS.md"), "x")
  expect(await isThere("AGENTS.md")).toBe(true)
  rmSync(join(folder, "AGENTS.md"))
  settle(folder)
  expect([await isThere("AGENTS.md"), await isThere("AGENTS.md")]).toEqual([false, false])
  writeFileSync(join(folder, "AGENTS.md"), "y")
  expect(await isThere("AGENTS.md")).toBe(true)
})

test("a folder that changed just now is not trusted: it may change again without new times", () => {
  // Simulates a file system whose clock has not ticked: the folder shows no sign of the change.
  const folder = Object.assign(statSync(tmpdir()), { mtimeMs: NOW.getTime(), ctimeMs: NOW.getTime() })
  let isThere = false
  const { lookUp } = createLookUp(
    () => NOW.getTime(),
    (path) => (path.endsWith("AGENTS.md") && !isThere ? undefined : folder),
  )
  expect(lookUp("/nowhere/AGENTS.md")).toBeUndefined()
  isThere = true
  expect(lookUp("/nowhere/AGENTS.md")).toBe(folder)
})

test("another folder at its path is a different folder, whatever its time", async () => {
  using scene = openScene()
  const { folder, isThere, settle } = scene
  for (const name of ["rules", "other"]) mkdirSync(join(folder, name))
  writeFileSync(join(folder, "other", "one.md"), "x")
  for (const name of ["rules", "other"]) settle(join(folder, name))
  expect(await isThere("rules/one.md")).toBe(false)
  renameSync(join(folder, "rules"), join(folder, "gone"))
  renameSync(join(folder, "other"), join(folder, "rules"))
  settle(folder)
  expect(await isThere("rules/one.md")).toBe(true)
})

test("a file in place of a folder has nothing below it, until there is a folder", async () => {
  using scene = openScene()
  const { folder, isThere, settle } = scene
  writeFileSync(join(folder, ".claude"), "not a folder")
  settle(join(folder, ".claude"))
  settle(folder)
  expect([await isThere(".claude/skills"), await isThere(".claude/skills")]).toEqual([false, false])
  rmSync(join(folder, ".claude"))
  mkdirSync(join(folder, ".claude", "skills"), { recursive: true })
  expect(await isThere(".claude/skills")).toBe(true)
})

test("a time that was set back hides nothing", async () => {
  using scene = openScene()
  const { folder, isThere, settle } = scene
  expect(await isThere("AGENTS.md")).toBe(false)
  writeFileSync(join(folder, "AGENTS.md"), "x")
  settle(folder)
  expect(await isThere("AGENTS.md")).toBe(true)
})

test("a link to nowhere is asked again: its target may come into any folder", async () => {
  using scene = openScene()
  const { folder, isThere, settle } = scene
  mkdirSync(join(folder, "elsewhere"))
  symlinkSync(join(folder, "elsewhere", "real.md"), join(folder, "AGENTS.md"))
  symlinkSync(join(folder, "elsewhere", "skills"), join(folder, "skills"))
  settle(folder)
  expect([await isThere("AGENTS.md"), await isThere("skills/SKILL.md")]).toEqual([false, false])
  writeFileSync(join(folder, "elsewhere", "real.md"), "x")
  mkdirSync(join(folder, "elsewhere", "skills"))
  writeFileSync(join(folder, "elsewhere", "skills", "SKILL.md"), "x")
  expect([await isThere("AGENTS.md"), await isThere("skills/SKILL.md")]).toEqual([true, true])
})

test("lookups made together see one state, and the next ones see later changes", async () => {
  using scene = openScene()
  const { folder, isThere, together } = scene
  expect(await isThere("AGENTS.md")).toBe(false)
  const during = together(() => {
    const first = isThere("AGENTS.md")
    writeFileSync(join(folder, "AGENTS.md"), "x")
    return Promise.all([first, isThere("AGENTS.md")])
  })
  expect(await during).toEqual([false, false])
  expect(await isThere("AGENTS.md")).toBe(true)
})
