/**
 * Which processes are alive, and what happens to the remains of dead ones. Real processes, real signals, flock(1) as the
 * witness.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { Failure } from "@meridian/protocol"
import { afterEach, beforeEach, expect, test } from "vitest"

import { openScene, until, type Document, type Scene } from "../scene/spaces.ts"
import { verifies } from "../verifies.ts"

let scene: Scene
beforeEach(() => {
  scene = openScene()
})
afterEach(() => scene.close())

const IN_S1 = { env: { MERIDIAN_SPACE_ID: "s1" } }
const SPAWN = { prompt: "x", model: "opus" }
const shellCanLock = (path: string): boolean => spawnSync("flock", ["-n", path, "true"]).status === 0
const isThere = (pid: unknown): boolean =>
  existsSync(`/proc/${String(pid)}`) && !/\) Z /.test(readFileSync(`/proc/${String(pid)}/stat`, "utf8"))
const event = (matches: (event: Document) => boolean): Document | undefined =>
  scene.events("s1/runs.jsonl").find(matches)
const started = async (id: string): Promise<{ readonly worker: number; readonly harness: number }> => {
  const harness = (found: Document): boolean => found["id"] === id && found["harness_pid"] !== undefined
  await until(() => event(harness) !== undefined)
  // It has spoken and will not speak again, so only a signal ends it now.
  await until(() => scene.events(`s1/runs/${id}/events.jsonl`).length > 0)
  return {
    worker: Number(event((found) => found["id"] === id)?.["worker_pid"]),
    harness: Number(event(harness)?.["harness_pid"]),
  }
}

verifies("run.outlives-worker", async () => {
  scene.harness("claude", { hang: "within", ignoreSignals: ["SIGTERM"] })
  await scene.call("run.spawn", { ...SPAWN, background: true })
  const { worker, harness } = await started("r1")
  process.kill(worker, "SIGKILL")
  await until(() => !isThere(worker))
  const lock = scene.state("s1/runs/r1/run.lock")
  expect([shellCanLock(lock), isThere(harness)]).toEqual([false, true])
  // The next command from anyone, even an agent.
  const { document } = await scene.call("run.list", {}, IN_S1)
  expect(document).toMatchObject({ runs: [{ run_id: "r1", status: "running" }] })
  await expect(scene.call("run.continue", { run_id: "r1", prompt: "y" }, IN_S1)).rejects.toThrow(
    new Failure("RUN_ALIVE", { run: "r1", status: "running", process: harness, program: "play.entry.ts" }),
  )
  expect((await scene.call("doctor")).document).toMatchObject({
    ok: false,
    findings: [
      {
        id: "abandoned_runs",
        space_id: "s1",
        what: `r1: its worker is gone, but play.entry.ts (process ${harness}) works on; end it with 'meridian run cancel r1 --space s1'`,
      },
    ],
  })
  expect(isThere(harness)).toBe(true)
  expect((await scene.call("run.cancel", { run_id: "r1" }, IN_S1)).document).toMatchObject({
    status: "cancelled",
  })
  await until(() => !isThere(harness))
  expect(existsSync(lock)).toBe(false)
  expect((await scene.call("doctor")).document).toMatchObject({ ok: true })
})

verifies("run.orphan", async () => {
  scene.harness("claude", { hang: "within" })
  await scene.call("run.spawn", { ...SPAWN, background: true })
  const { worker, harness } = await started("r1")
  process.kill(worker, "SIGKILL")
  await until(() => !isThere(worker))
  process.kill(harness, "SIGKILL")
  // The first thread of a process may be gone while others still have its files open.
  await until(() => shellCanLock(scene.state("s1/runs/r1/run.lock")))
  const { document } = await scene.call("run.list", {}, IN_S1)
  expect(document).toMatchObject({ runs: [{ run_id: "r1", status: "failed" }] })
  expect((await scene.call("run.show", { run_id: "r1" }, IN_S1)).document).toMatchObject({
    status: "failed",
    exit_code: 1,
    failure_reason: "orphan_run",
  })
})

verifies(
  "run.orphan",
  async () => {
    scene.harness("claude", { hang: "within" })
    const running = scene.start("run.spawn", SPAWN)
    const { harness } = await started("r1")
    const waiting = scene.call("run.wait", { run_ids: ["r1"] }, IN_S1)
    running.child.kill("SIGKILL")
    await running.ended
    process.kill(harness, "SIGKILL")
    expect((await waiting).document).toMatchObject({ status: "failed", any_failed: true })
  },
  "also seen by somebody who waits for it",
)

verifies("run.live-untouched", async () => {
  const release = join(scene.project, "go")
  scene.harness("claude", { release })
  const running = scene.start("run.spawn", SPAWN)
  const { harness } = await started("r1")
  // Nothing more is written once the harness has shown its session and waits.
  await until(
    () =>
      scene.events("s1/runs/r1/events.jsonl").length > 0 && scene.events("s1/sessions.jsonl").length === 2,
  )
  const before = scene.snapshot()
  for (const name of ["doctor", "run.list", "run.stats", "space.list"] as const)
    await scene.call(name, {}, IN_S1)
  await scene.call("doctor")
  expect(scene.snapshot()).toEqual(before)
  expect(isThere(harness)).toBe(true)
  writeFileSync(release, "")
  expect((await running.ended).code).toBe(0)
  expect((await scene.call("run.show", { run_id: "r1" }, IN_S1)).document).toMatchObject({
    status: "succeeded",
  })
})

verifies("run.real-end-wins", async () => {
  const release = join(scene.project, "go")
  scene.harness("claude", { release })
  const running = scene.start("run.spawn", SPAWN)
  await started("r1")
  const log = scene.state("s1/runs.jsonl")
  const repair =
    '{"v":1,"event":"finalize","id":"r1","status":"failed","exit_code":1,"error":"orphan_run","finished_at":"2026-03-01T00:00:00Z"}\n'
  writeFileSync(log, readFileSync(log, "utf8") + repair)
  writeFileSync(release, "")
  await running.ended
  const shown = (await scene.call("run.show", { run_id: "r1" }, IN_S1)).document
  expect(shown).toMatchObject({ status: "succeeded", exit_code: 0 })
  expect(shown).not.toHaveProperty("failure_reason")
  writeFileSync(log, readFileSync(log, "utf8") + repair)
  expect((await scene.call("run.show", { run_id: "r1" }, IN_S1)).document).toEqual(shown)
})

/** A chat whose `meridian start` was killed while its harness works. */
const abandonChat = async (): Promise<number> => {
  const claude = scene.harness("claude", { hang: "within" })
  const chat = scene.start("start", { model: "opus" })
  await until(() => claude.calls().length > 0)
  chat.child.kill("SIGKILL")
  await until(() => !isThere(chat.child.pid))
  return claude.calls()[0]?.pid ?? 0
}

verifies("start.lock-inherited", async () => {
  const harness = await abandonChat()
  const lock = scene.state("s1/sessions/c1.lock")
  expect([isThere(harness), shellCanLock(lock)]).toEqual([true, false])
  expect((await scene.call("space.show", { space_id: "s1" })).document).toMatchObject({
    chats: [{ chat_id: "c1", alive: true }],
  })
  const alive = { chat: "c1", space: "s1", process: harness, program: "play.entry.ts" }
  await expect(scene.call("start", { continue: "c1" })).rejects.toThrow(new Failure("CHAT_ALIVE", alive))
  expect((await scene.call("doctor")).document).toMatchObject({
    ok: false,
    repaired: [],
    findings: [
      {
        id: "abandoned_chats",
        what: `c1: its 'meridian start' is gone, but play.entry.ts (process ${harness}) works on; end it with 'kill ${harness}'`,
      },
    ],
  })
  process.kill(harness, "SIGTERM")
  await until(() => shellCanLock(lock))
  expect((await scene.call("doctor")).document).toMatchObject({ ok: true, repaired: ["stale_session_locks"] })
  scene.harness("claude")
  expect((await scene.call("start", { continue: "c1" })).document).toMatchObject({ exit_code: 0 })
})

verifies(
  "start.lock-inherited",
  async () => {
    const harness = await abandonChat()
    expect((await scene.call("space.close", { space_id: "s1" })).document).toMatchObject({
      stopped_chats: ["c1"],
    })
    expect(isThere(harness)).toBe(false)
  },
  "space close ends what is left",
)

verifies("session.kill-frees", async () => {
  const harness = await abandonChat()
  process.kill(harness, "SIGKILL")
  await until(() => shellCanLock(scene.state("s1/sessions/c1.lock")))
  expect((await scene.call("space.show", { space_id: "s1" })).document).toMatchObject({
    chats: [{ chat_id: "c1", alive: false }],
  })
  expect((await scene.call("doctor")).document).toMatchObject({ repaired: ["stale_session_locks"] })
  expect(scene.events("s1/sessions.jsonl").at(-1)).toMatchObject({ event: "stop", chat_id: "c1" })
})

verifies("session.start-up-sweep", async () => {
  const { sweepAtStart } = await import("@meridian/spaces")
  process.kill(await abandonChat(), "SIGKILL")
  await until(() => shellCanLock(scene.state("s1/sessions/c1.lock")))
  const world = {
    env: scene.env,
    cwd: scene.project,
    clock: { now: Date.now, sleep: () => Promise.resolve() },
    warn: () => undefined,
    program: ["false"] as const,
  }
  await sweepAtStart({ ...world, mode: "agent" })
  expect(scene.events("s1/sessions.jsonl").length).toBe(1)
  await sweepAtStart({ ...world, mode: "human" })
  expect(scene.events("s1/sessions.jsonl")[1]).toMatchObject({ event: "stop", chat_id: "c1" })
  const swept = scene.snapshot()
  await sweepAtStart({ ...world, mode: "human" })
  expect(scene.snapshot()).toEqual(swept)
})

verifies("state.parallel-spawns", async () => {
  scene.harness("claude")
  await scene.call("run.spawn", SPAWN)
  const calls = Array.from({ length: 16 }, () => scene.start("run.spawn", SPAWN, IN_S1))
  const ends = await Promise.all(calls.map((call) => call.ended))
  expect(ends.map((end) => end.code)).toEqual(Array.from({ length: 16 }, () => 0))
  const ids = scene
    .events("s1/runs.jsonl")
    .filter((found) => found["event"] === "start")
    .map((found) => found["id"])
  expect(new Set(ids).size).toBe(17)
  expect(scene.events("s1/runs.jsonl").filter((found) => found["event"] === "finalize").length).toBe(17)
  expect((await scene.call("run.stats", {}, IN_S1)).document).toMatchObject({ total_runs: 17, succeeded: 17 })
  const chats = scene
    .events("s1/sessions.jsonl")
    .filter((found) => found["event"] === "start")
    .map((found) => found["chat_id"])
  expect(new Set(chats).size).toBe(17)
})

test("no more runs of a space work at once than allowed, however many are spawned", async () => {
  const claude = scene.harness("claude")
  await scene.call("run.spawn", SPAWN)
  const env = { ...IN_S1.env, MERIDIAN_MAX_PARALLEL: "2" }
  await Promise.all(Array.from({ length: 6 }, () => scene.start("run.spawn", SPAWN, { env }).ended))
  expect(claude.calls().length).toBe(7)
  const working = new Set<unknown>()
  let most = 0
  for (const found of scene.events("s1/runs.jsonl")) {
    if (found["status"] === "running") working.add(found["id"])
    if (found["event"] === "finalize") working.delete(found["id"])
    most = Math.max(most, working.size)
  }
  expect(most).toBe(2)
})
