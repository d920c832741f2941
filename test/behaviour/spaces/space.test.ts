import { spawn as spawnProcess } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"

import { afterEach, beforeEach, expect, test } from "vitest"

import { codeOf, openScene, until, type Scene } from "../../scene/spaces.ts"
import { verifies } from "../../verifies.ts"

let scene: Scene
beforeEach(() => {
  scene = openScene()
})
afterEach(() => scene.close())

const IN_S1 = { env: { MERIDIAN_SPACE_ID: "s1" } }
const start = (values = {}) => scene.call("start", { model: "opus", ...values })
const close = (options = {}) => scene.call("space.close", { space_id: "s1" }, options)
const document = () => scene.events("s1/space.json")[0]

verifies("space.close-marks", async () => {
  scene.harness("claude")
  await start({ name: "one" })
  expect((await close()).document).toMatchObject({
    space_id: "s1",
    status: "closed",
    finished_at: expect.any(String),
  })
  expect(document()).toMatchObject({
    schema_version: 1,
    name: "one",
    status: "closed",
    finished_at: expect.any(String),
  })
  const before = scene.snapshot()
  await close()
  expect(scene.snapshot()).toEqual(before)
})

verifies("space.close-stops-chats", async () => {
  scene.harness("claude", { hang: "within" })
  const chat = scene.start("start", { model: "opus" })
  await until(() => scene.events("s1/sessions.jsonl").length > 0)
  await scene.call("run.spawn", { prompt: "x", model: "opus", background: true }, IN_S1)
  await until(() => scene.events("s1/sessions.jsonl").some((event) => event["run_id"] === "r1"))
  const { document: closed, exitCode } = await close()
  expect(closed).toMatchObject({ stopped_chats: ["c1"], cancelled_runs: ["r1"] })
  expect(exitCode).toBe(0)
  expect((await chat.ended).code).toBe(143)
  expect(scene.events("s1/runs.jsonl").at(-1)).toMatchObject({ event: "finalize", status: "cancelled" })
  const stops = scene.events("s1/sessions.jsonl").filter((event) => event["event"] === "stop")
  expect(stops.map((event) => String(event["chat_id"])).toSorted()).toEqual(["c1", "c2"])
})

verifies("space.close-removes-locks", async () => {
  scene.harness("claude")
  await start()
  writeFileSync(scene.state("s1/sessions/c9.lock"), "")
  expect((await close()).document).toMatchObject({ removed_locks: 1 })
  expect(readdirSync(scene.state("s1/sessions"))).toEqual([])
})

verifies("space.close-no-commit", async () => {
  scene.harness("claude")
  await start()
  const before = readdirSync(`${scene.project}/.git`)
  await close()
  expect(readdirSync(`${scene.project}/.git`)).toEqual(before)
})

verifies(
  "space.closed-takes-nothing",
  async () => {
    scene.harness("claude")
    await start()
    await close()
    expect(await codeOf(start({ space: "s1" }))).toBe("SPACE_CLOSED")
    expect(await codeOf(start({ continue: "c1" }))).toBe("SPACE_CLOSED")
    expect(await codeOf(scene.call("run.spawn", { prompt: "x", model: "opus" }, IN_S1))).toBe("SPACE_CLOSED")
    expect((await start()).document).toMatchObject({ space_id: "s2" })
  },
  "neither start nor spawn",
)

test("on a terminal a space at work is closed only after a yes", async () => {
  scene.harness("claude", { hang: "within" })
  await scene.call("run.spawn", { prompt: "x", model: "opus", background: true })
  const questions: string[] = []
  const say = (answer: boolean) => ({
    terminal: true,
    confirm: (question: string) => {
      questions.push(question)
      return answer
    },
  })
  expect(await codeOf(close(say(false)))).toBe("NOT_CONFIRMED")
  expect(document()).toMatchObject({ status: "active" })
  await close(say(true))
  expect(document()).toMatchObject({ status: "closed" })
  expect(questions).toEqual(
    Array.from({ length: 2 }, () => "Space s1 is still at work (r1). End that and close it?"),
  )
})

verifies("space.show-liveness", async () => {
  scene.harness("claude")
  await start()
  const { document: shown, text } = await scene.call("space.show", { space_id: "s1" })
  expect(shown).toMatchObject({
    space_id: "s1",
    status: "active",
    chats: [{ chat_id: "c1", alive: false, resume_command: "meridian start --space s1 --continue c1" }],
    run_ids: [],
  })
  expect(text).toContain("meridian start --space s1 --continue c1")
  expect(await codeOf(scene.call("space.show", { space_id: "s7" }))).toBe("SPACE_NOT_FOUND")
})

test("spaces are listed by their last use, even a damaged one", async () => {
  scene.harness("claude")
  await start()
  await start({ new: true, name: "two" })
  await start({ space: "s1" })
  await start({ new: true })
  writeFileSync(scene.state("s3/space.json"), "{")
  const { document: listed } = await scene.call("space.list")
  expect(listed["spaces"]).toMatchObject([
    { space_id: "s1", status: "active" },
    { space_id: "s2", status: "active", name: "two" },
    { space_id: "s3", status: "damaged" },
  ])
})

verifies("doctor.stale-locks", async () => {
  scene.harness("claude")
  await start()
  writeFileSync(scene.state("s1/sessions/c9.lock"), "")
  const { document: report, exitCode } = await scene.call("doctor")
  expect(report).toMatchObject({ ok: true, repaired: ["stale_session_locks"], warnings: [] })
  expect(exitCode).toBe(0)
  expect(readdirSync(scene.state("s1/sessions"))).toEqual([])
})

verifies("doctor.orphans", async () => {
  scene.harness("claude")
  await scene.call("run.spawn", { prompt: "x", model: "opus" })
  writeFileSync(
    scene.state("s1/runs.jsonl"),
    '{"v":1,"event":"start","id":"r5","model":"m","harness":"claude","status":"running","started_at":"2026-03-01T00:00:00Z","prompt":"old"}\n',
  )
  expect((await scene.call("doctor")).document).toMatchObject({
    ok: true,
    runs_checked: 1,
    repaired: ["orphan_runs"],
  })
  expect(scene.events("s1/runs.jsonl").at(-1)).toMatchObject({
    event: "finalize",
    id: "r5",
    status: "failed",
    error: "orphan_run",
    exit_code: 1,
  })
  expect((await scene.call("doctor")).document).toMatchObject({ ok: true, repaired: [] })
})

test("a reader without write access still learns that a run is an orphan", async () => {
  scene.harness("claude")
  await scene.call("run.spawn", { prompt: "x", model: "opus" })
  writeFileSync(
    scene.state("s1/runs.jsonl"),
    '{"v":1,"event":"start","id":"r5","model":"m","harness":"claude","status":"running","started_at":"2026-03-01T00:00:00Z"}\n',
  )
  // Simulates a directory that may not be written: the lock of the run cannot be made.
  writeFileSync(scene.state("s1/runs/r5"), "")
  const before = scene.snapshot()
  expect((await scene.call("run.show", { run_id: "r5" }, IN_S1)).document).toMatchObject({
    status: "failed",
    failure_reason: "orphan_run",
  })
  expect(scene.snapshot()).toEqual(before)
})

verifies("doctor.stale-status", async () => {
  scene.harness("claude")
  await start()
  const write = (fields: object) =>
    writeFileSync(
      scene.state("s1/space.json"),
      JSON.stringify({
        schema_version: 1,
        id: "s1",
        name: null,
        started_at: "2026-03-01T00:00:00Z",
        ...fields,
      }),
    )
  write({ status: "closed", finished_at: null })
  expect((await scene.call("doctor")).document).toMatchObject({ repaired: ["stale_space_status"] })
  expect(document()).toMatchObject({ status: "closed", finished_at: expect.any(String) })
  write({ status: "active", finished_at: "2026-03-01T00:00:00Z" })
  await scene.call("doctor")
  expect(document()).toMatchObject({ status: "closed" })
  write({ status: "active", finished_at: null })
  expect((await scene.call("doctor")).document).toMatchObject({ repaired: [] })
  expect(document()).toMatchObject({ status: "active" })
  write({ status: "closed", finished_at: "2026-03-01T00:00:00Z" })
  writeFileSync(
    scene.state("s1/sessions.jsonl"),
    '{"v":1,"event":"start","chat_id":"c4","harness":"claude","harness_session_id":"x","model":"m","started_at":"2026-03-01T00:00:00Z"}\n',
  )
  const holder = spawnProcess(
    "flock",
    ["-F", scene.state("s1/sessions/c4.lock"), "sh", "-c", "echo held; exec sleep 60"],
    {
      stdio: ["ignore", "pipe", "ignore"],
    },
  )
  await once(holder.stdout, "data")
  await scene.call("doctor")
  holder.kill("SIGKILL")
  expect(document()).toMatchObject({ status: "active", finished_at: null })
})

verifies("doctor.damaged-space", async () => {
  scene.harness("claude")
  await start()
  await start({ new: true })
  rmSync(scene.state("s1/space.json"))
  const before = scene.snapshot()
  const { document: report } = await scene.call("doctor")
  expect(report).toMatchObject({
    ok: false,
    spaces_checked: 2,
    warnings: ["missing_or_corrupt_space_json: s1: space.json is missing; the space was skipped"],
  })
  expect(scene.snapshot()).toEqual(before)
})

verifies("doctor.exit", async () => {
  scene.harness("claude")
  await start()
  expect((await scene.call("doctor")).exitCode).toBe(0)
  const log = scene.state("s1/sessions.jsonl")
  writeFileSync(log, `garbage\n${readFileSync(log, "utf8")}`)
  const { document: report, exitCode } = await scene.call("doctor")
  expect(report["warnings"]).toEqual([`damaged_log: s1: ${log}:1`])
  expect(exitCode).toBe(1)
})

verifies(
  "session.mid-file-damage",
  async () => {
    scene.harness("claude")
    await scene.call("run.spawn", { prompt: "x", model: "opus" })
    const log = scene.state("s1/runs.jsonl")
    writeFileSync(log, readFileSync(log, "utf8").replace("\n", "\n}{\n"))
    const { warnings, document: listed } = await scene.call("run.list", {}, IN_S1)
    expect(warnings).toEqual([
      `WARNING [LOG_DAMAGED]: ${log}:2 is damaged and was skipped. Next: look at the line; its content is ignored.`,
    ])
    expect(listed).toMatchObject({ runs: [{ run_id: "r1", status: "succeeded" }] })
  },
  "told by the command that met it",
)
