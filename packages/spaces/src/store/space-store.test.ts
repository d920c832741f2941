import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { spaceId } from "@meridian/protocol"
import { afterEach, beforeEach, expect, test } from "vitest"

import { verifies } from "../../../../test/verifies.ts"
import { openPlace } from "./place.ts"
import { changeSpace, createSpace, findSpace, keepGitignore, listSpaces } from "./space-store.ts"

let project: string
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "space-"))
})
afterEach(() => rmSync(project, { recursive: true, force: true }))

const NOW = "2026-03-01T00:00:00.000Z"
const place = (env: Record<string, string> = {}) => openPlace(env, project)
const create = (name?: string, env: Record<string, string> = {}) =>
  createSpace(place(env), { name, now: NOW })

verifies("start.creates-layout", async () => {
  await create("feature-auth")
  expect(readdirSync(join(project, ".meridian", ".spaces", "s1")).sort()).toEqual([
    "fs",
    "runs",
    "runs.lock",
    "sessions",
    "sessions.jsonl",
    "sessions.lock",
    "space.json",
    "space.lock",
  ])
})

verifies("state.versions", async () => {
  await create("feature-auth")
  expect(readFileSync(join(project, ".meridian/.spaces/s1/space.json"), "utf8")).toBe(
    `{"schema_version":1,"id":"s1","name":"feature-auth","status":"active","started_at":"${NOW}","finished_at":null}\n`,
  )
})

verifies("path.dot-spaces", async () => {
  await create()
  expect(readdirSync(join(project, ".meridian")).sort()).toEqual([".gitignore", ".spaces"])
  expect(readdirSync(join(project, ".meridian/.spaces")).sort()).toEqual([".lock", "s1"])
})

verifies("state.ids-only-grow", async () => {
  await create()
  await create()
  rmSync(join(project, ".meridian/.spaces/s1"), { recursive: true })
  mkdirSync(join(project, ".meridian/.spaces/s9"))
  expect((await create()).id).toBe("s10")
})

test("spaces made at the same time have different ids", async () => {
  const spaces = await Promise.all(Array.from({ length: 6 }, () => create()))
  expect(spaces.map((space) => space.id).sort()).toEqual(["s1", "s2", "s3", "s4", "s5", "s6"])
})

test("a space half made by a crash does not count, and making the next one clears it", async () => {
  mkdirSync(join(project, ".meridian/.spaces/.new-s1/fs"), { recursive: true })
  expect(listSpaces(place())).toEqual([])
  expect((await create()).id).toBe("s1")
  expect(readdirSync(join(project, ".meridian/.spaces")).sort()).toEqual([".lock", "s1"])
})

verifies("state.root", async () => {
  const env = { MERIDIAN_STATE_ROOT: "elsewhere/state" }
  await create(undefined, env)
  await create(undefined, env)
  expect(readdirSync(project)).toEqual(["elsewhere"])
  expect(readdirSync(join(project, "elsewhere/state")).sort()).toEqual([".gitignore", ".spaces"])
  expect(listSpaces(place(env)).map((found) => found.id)).toEqual(["s1", "s2"])
})

verifies("state.gitignore-appends", async () => {
  const file = join(project, ".meridian/.gitignore")
  mkdirSync(join(project, ".meridian"))
  writeFileSync(file, "# mine\n.spaces/**\nnotes.txt")
  await keepGitignore(place())
  const once = readFileSync(file, "utf8")
  expect(once).toBe("# mine\n.spaces/**\nnotes.txt\n!.spaces/*/\n!.spaces/*/fs/\n!.spaces/*/fs/**\n")
  await keepGitignore(place())
  expect(readFileSync(file, "utf8")).toBe(once)
})

verifies("start.keeps-gitignore", async () => {
  spawnSync("git", ["init", "-q", project])
  await create()
  writeFileSync(join(project, ".meridian/.spaces/s1/fs/note.md"), "kept")
  const { stdout } = spawnSync("git", ["-C", project, "ls-files", "-o", "--exclude-standard"], {
    encoding: "utf8",
  })
  expect(stdout.trim().split("\n").sort()).toEqual([
    ".meridian/.gitignore",
    ".meridian/.spaces/s1/fs/note.md",
  ])
})

test.each([
  ["not json", "not a JSON object"],
  ['{"schema_version":2,"id":"s1","status":"active","started_at":"x"}', "schema_version is 2, not 1"],
  ['{"schema_version":1,"id":"s2","status":"active","started_at":"x"}', "id is not s1"],
  [
    '{"schema_version":1,"id":"s1","status":"paused","started_at":"x"}',
    "status is neither active nor closed",
  ],
])("a space.json of %s is reported, not guessed", async (content, reason) => {
  await create()
  writeFileSync(join(project, ".meridian/.spaces/s1/space.json"), content)
  expect(listSpaces(place())).toEqual([{ tag: "damaged", id: "s1", reason: `space.json: ${reason}` }])
  expect(() => findSpace(place(), "s1")).toThrow(`Space s1 cannot be read: space.json: ${reason}.`)
})

test("a change that changes nothing writes nothing", async () => {
  await create()
  const file = join(project, ".meridian/.spaces/s1/space.json")
  writeFileSync(file, readFileSync(file, "utf8").replace("{", "{ "))
  const before = readFileSync(file, "utf8")
  await changeSpace(place(), spaceId("s1"), (space) => space)
  expect(readFileSync(file, "utf8")).toBe(before)
})

test("fields of a newer writer in space.json survive a change of ours", async () => {
  await create()
  const file = join(project, ".meridian/.spaces/s1/space.json")
  writeFileSync(file, readFileSync(file, "utf8").replace("}", ',"labels":["a"]}'))
  await changeSpace(place(), spaceId("s1"), (space) => ({ ...space, name: "named" }))
  expect(readFileSync(file, "utf8")).toBe(
    `{"schema_version":1,"id":"s1","name":"named","status":"active","started_at":"${NOW}","finished_at":null,"labels":["a"]}\n`,
  )
})
