/**
 * A run outlives the processes that execute it. The shipped command, a pretend Claude, and kill -9 of the worker with its
 * harness, and of the supervisor too.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, test } from "vitest"

import { document, emptyFolder } from "../e2e/cli-binary.ts"
import {
  attempts,
  beginnings,
  begun,
  ended,
  lost,
  openOutliving,
  SAID,
  spoken,
  until,
} from "../scene/outliving.ts"
import { verifies } from "../verifies.ts"

verifies("run.outlives-its-processes", async () => {
  const scene = openOutliving({ noise: [SAID], hold: true })
  await begun(scene)
  scene.claude.behave({ answer: "All done." })
  scene.kill("run worker")
  scene.kill("play.entry")
  const shown = await ended(scene)
  expect(shown).toMatchObject({ task: "build the parser", report_summary: "All done." })
  expect(attempts(shown)).toMatchObject([{ why: "worker_died" }, { why: "succeeded" }])
  const [first, second] = scene.claude.calls()
  expect(second?.session).toBe(first?.session)
  expect(second?.argv).toContain("--resume")
  expect(second?.stdin).toMatch(/^\[meridian\] The process that carried out this run was killed/)
})

verifies(
  "run.outlives-its-processes",
  async () => {
    const scene = openOutliving({ noise: [SAID], hold: true })
    await begun(scene)
    scene.claude.behave({ answer: "All done." })
    const [left] = scene.claude.calls()
    scene.kill("run worker")
    const shown = await ended(scene)
    expect(attempts(shown)).toMatchObject([{ why: "worker_died" }, { why: "succeeded" }])
    expect(scene.claude.calls()[1]?.session).toBe(left?.session)
    expect(() => process.kill(left?.pid ?? 0, 0)).toThrow("ESRCH")
  },
  "a harness that nobody hears any more is ended",
)

test("a run is paused with a harness that nobody hears any more", async () => {
  const scene = openOutliving({ noise: [SAID], hold: true, env: { MERIDIAN_SUPERVISOR: "off" } })
  await begun(scene)
  scene.kill("run worker")
  const paused = await scene.run("run", "pause", "r1", "--space", "s1", "--json")
  expect(document(paused)).toEqual({ run_id: "r1", status: "paused" })
  expect(scene.count("play.entry")).toBe(0)
})

test("with supervisor, worker and harness dead, the next command revives the work", async () => {
  const scene = openOutliving({ noise: [SAID], hold: true })
  await begun(scene)
  scene.claude.behave({ answer: "All done." })
  scene.kill("run supervise")
  scene.kill("run worker")
  scene.kill("play.entry")
  await scene.run("up")
  const shown = await ended(scene)
  expect(attempts(shown)).toMatchObject([{ why: "worker_died" }, { why: "succeeded" }])
})

verifies("run.waits-for-limits", async () => {
  const words = "You've hit your usage limit. Try again in 3 seconds."
  const scene = openOutliving({ failFirst: { times: 1, failure: "rate_limit", words }, answer: "All done." })
  const spawned = await scene.run("run", "spawn", "--background", "-p", "build the parser", "--json")
  expect(document(spawned)).toMatchObject({ run_id: "r1" })
  const waiting = await ended(scene, "waiting")
  expect(waiting).toMatchObject({ waiting_for: "limit", waiting_until: expect.any(String) })
  const told = await scene.run("run", "show", "r1", "--space", "s1")
  expect(told.stdout).toMatch(
    /^Status: (waiting until \d{4}-\d\d-\d\d \d\d:\d\d \(limit\)|running|succeeded)/m,
  )
  const shown = await ended(scene)
  expect(attempts(shown)).toMatchObject([{ why: "rate_limit" }, { why: "succeeded" }])
  const [, second] = scene.claude.calls()
  expect(Date.parse(String(beginnings(shown)[1]))).toBeGreaterThanOrEqual(
    Date.parse(String(waiting["waiting_until"])),
  )
  expect(second?.stdin).toContain("build the parser")
})

test("a run that waits goes on earlier when a person says so", async () => {
  const words = "usage limit reached, resets in 5 hours"
  const scene = openOutliving({ failFirst: { times: 1, failure: "rate_limit", words }, answer: "All done." })
  await scene.run("run", "spawn", "--background", "-p", "build the parser")
  await ended(scene, "waiting")
  expect((await scene.run("run", "resume", "r1", "--space", "s1")).code).toBe(0)
  await ended(scene)
})

verifies("run.steered", async () => {
  const scene = openOutliving({ noise: [SAID], hold: true })
  await begun(scene)
  const paused = await scene.run("run", "pause", "r1", "--space", "s1", "--json")
  expect(document(paused)).toEqual({ run_id: "r1", status: "paused" })
  scene.claude.behave({ answer: "All done." })
  await scene.run("run", "send", "r1", "and write tests", "--space", "s1")
  expect(await scene.show()).toMatchObject({ status: "paused" })
  expect(scene.claude.calls()).toHaveLength(1)
  await scene.run("run", "resume", "r1", "--space", "s1")
  const shown = await ended(scene)
  expect(attempts(shown)).toMatchObject([{ why: "paused" }, { why: "succeeded" }])
  expect(scene.claude.calls()[1]?.stdin).toMatch(/^\[meridian\] The run was paused.*\n\nand write tests$/s)
})

test("words sent to a run are its next message, and it does not end before", async () => {
  const go = join(emptyFolder("go "), "go")
  const scene = openOutliving({ noise: [SAID], release: go, answer: "First." })
  await begun(scene)
  await scene.run("run", "send", "r1", "now the tests", "--space", "s1")
  writeFileSync(go, "")
  const shown = await ended(scene)
  expect(attempts(shown)).toMatchObject([{ why: "succeeded" }, { why: "succeeded" }])
  expect(scene.claude.calls().map(({ stdin }) => stdin)).toMatchObject([expect.any(String), "now the tests"])
})

test("a plan that the user's Meridian did not write is not carried out", async () => {
  const scene = openOutliving({ noise: [SAID], hold: true })
  await begun(scene)
  const file = join(scene.project, ".meridian/.spaces/s1/runs/r1/params.json")
  scene.kill("run supervise")
  scene.kill("run worker")
  scene.kill("play.entry")
  writeFileSync(
    file,
    readFileSync(file, "utf8").replaceAll('"permission": "read-only"', '"permission": "danger"'),
  )
  const shown = await lost(scene)
  expect(shown).toMatchObject({ failure_reason: "orphan_run" })
  expect(String(shown["message"])).toContain("not written by your Meridian")
  expect(scene.claude.calls()).toHaveLength(1)
})

verifies("run.survives-shutdown", async () => {
  const scene = openOutliving({ noise: [SAID], hold: true })
  await begun(scene)
  scene.claude.behave({ answer: "All done." })
  // Like a shutdown of the machine: every process is asked to leave, without a reason.
  scene.kill("run supervise", "SIGTERM")
  scene.kill("run worker", "SIGTERM")
  await until(() => scene.kill("run worker", "SIGTERM") === 0)
  expect(scene.status()).toBe("running")
  await scene.run("up")
  expect(attempts(await ended(scene))).toMatchObject([{ why: "worker_died" }, { why: "succeeded" }])
})

verifies("run.foreground-survives", async () => {
  const go = join(emptyFolder("go "), "go")
  const scene = openOutliving({ noise: [SAID], release: go, answer: "All done." })
  const running = scene.run("run", "spawn", "-p", "build the parser", "--json")
  await spoken(scene)
  scene.kill("run spawn", "SIGHUP")
  writeFileSync(go, "")
  expect(document(await running)).toMatchObject({ status: "succeeded", report: "All done." })
})

verifies(
  "run.foreground-survives",
  async () => {
    const scene = openOutliving({ noise: [SAID], hold: true })
    const running = scene.run("run", "spawn", "-p", "build the parser")
    await spoken(scene)
    scene.claude.behave({ answer: "All done." })
    scene.kill("run spawn")
    scene.kill("play.entry")
    await running
    await scene.run("up")
    expect(attempts(await ended(scene))).toMatchObject([{ why: "worker_died" }, { why: "succeeded" }])
  },
  "a kill: the next command carries it on",
)

verifies("run.stop-is-kept", async () => {
  const scene = openOutliving({ noise: [SAID], hold: true, ignoreSignals: ["SIGTERM"] })
  const running = scene.run("run", "spawn", "-p", "build the parser")
  await spoken(scene)
  scene.kill("run spawn", "SIGINT")
  const log = join(scene.project, ".meridian/.spaces/s1/runs.jsonl")
  await until(() => readFileSync(log, "utf8").includes('"asked":"stop"'))
  scene.kill("run spawn")
  scene.kill("play.entry")
  await running
  await scene.run("up")
  expect(await ended(scene, "cancelled")).toMatchObject({ status: "cancelled", attempts: [{}] })
  expect(scene.claude.calls()).toHaveLength(1)
})

verifies("serve.supervises", async () => {
  const scene = openOutliving({ noise: [SAID], hold: true })
  await begun(scene)
  scene.claude.behave({ answer: "All done." })
  for (const part of ["run supervise", "run worker", "play.entry"]) scene.kill(part)
  const serving = scene.run("serve", "--http", "--port", "0")
  expect(attempts(await ended(scene))).toMatchObject([{ why: "worker_died" }, { why: "succeeded" }])
  scene.kill("serve", "SIGTERM")
  expect((await serving).code).toBe(0)
})

verifies("run.unpinned", async () => {
  const scene = openOutliving({ answer: "All done.", env: { MERIDIAN_CONTINUITY: "off" } })
  await scene.run("run", "spawn", "-p", "build the parser")
  expect(attempts(await scene.show())).toMatchObject([{ unpinned: "MERIDIAN_CONTINUITY is off" }])
  const told = await scene.run("run", "show", "r1", "--space", "s1")
  expect(told.stdout).toContain("Not pinned: in claude: MERIDIAN_CONTINUITY is off")
})
