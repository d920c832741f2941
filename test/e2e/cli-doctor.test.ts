import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, test } from "vitest"

import { document, emptyFolder, meridian } from "./cli-binary.ts"

/** A space as a crash left it: a run without a worker, a chat without a process, its lock file still there. */
const crashedSpace = (): string => {
  const cwd = emptyFolder()
  const space = join(cwd, ".meridian/.spaces/s1")
  for (const folder of ["runs", "sessions", "fs"]) mkdirSync(join(space, folder), { recursive: true })
  const write = (name: string, value: object): void =>
    writeFileSync(join(space, name), `${JSON.stringify(value)}\n`)
  write("space.json", {
    schema_version: 1,
    id: "s1",
    name: null,
    status: "active",
    started_at: "2026-03-01T00:00:00Z",
    finished_at: null,
  })
  write("runs.jsonl", {
    v: 1,
    event: "start",
    id: "r1",
    model: "m",
    harness: "claude",
    status: "running",
    started_at: "2026-03-01T00:00:00Z",
  })
  write("sessions.jsonl", {
    v: 1,
    event: "start",
    chat_id: "c1",
    harness: "claude",
    harness_session_id: "x",
    model: "m",
    started_at: "2026-03-01T00:00:00Z",
  })
  writeFileSync(join(space, "sessions/c1.lock"), "")
  return cwd
}

test.each([
  ["a person", {}],
  ["an agent", { MERIDIAN_SPACE_ID: "s1" }],
] as const)("doctor tells %s what it repaired, once, and leaves with 0", async (_, env) => {
  const cwd = crashedSpace()
  const first = await meridian(["doctor", "--json"], { cwd, env })
  expect(first.code).toBe(0)
  expect(document(first)).toMatchObject({
    ok: true,
    repaired: ["stale_session_locks", "orphan_runs"],
    warnings: [],
  })
  expect(document(await meridian(["doctor", "--json"], { cwd, env }))).toMatchObject({
    ok: true,
    repaired: [],
  })
  expect(readFileSync(join(cwd, ".meridian/.spaces/s1/runs.jsonl"), "utf8")).toContain('"error":"orphan_run"')
})

test.each([["doctor"], ["space", "close", "s1"]])(
  "%s removes lock files that nobody holds, those of runs without a row too, and counts them",
  async (...words) => {
    const cwd = crashedSpace()
    const lock = join(cwd, ".meridian/.spaces/s1/runs/r9/run.lock")
    mkdirSync(join(lock, ".."), { recursive: true })
    writeFileSync(lock, "")
    const { stdout } = await meridian([...words, "--json"], { cwd })
    expect(stdout).toMatch(/"removed_locks":2|1 chats stopped, 2 lock files removed/)
    expect(existsSync(lock)).toBe(false)
  },
)

test("doctor leaves with 1 while something is left that it must not repair", async () => {
  const cwd = crashedSpace()
  writeFileSync(join(cwd, ".meridian/.spaces/s1/space.json"), "{")
  const { code, stdout } = await meridian(["doctor"], { cwd })
  expect(code).toBe(1)
  expect(stdout).toContain(
    "warning: missing_or_corrupt_space_json: s1: space.json: not a JSON object; the space was skipped",
  )
})
