/**
 * A process of Meridian is killed (SIGKILL) at every single step that changes anything outside it: each directory made,
 * file written (even by half), renamed, synced or removed, each process started. After each death every reading command
 * must work and tell the truth, `doctor` must find everything repairable, and work must be able to continue.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { rolldown } from "rolldown"
import { afterAll, beforeAll, expect, test } from "vitest"

import { openScene, processesOf, until, type Document, type Scene } from "../scene/spaces.ts"

/** Answers at once, in the words of Claude Code; on a terminal it only ends. */
const QUICK_CLAUDE = `#!/bin/sh
case " $* " in *" -p "*) ;; *) exit 0;; esac
cat > /dev/null
while [ $# -gt 0 ]; do case "$1" in --session-id|--resume) id=$2;; esac; shift; done
echo '{"type":"system","subtype":"init","session_id":"'$id'","model":"m"}'
echo '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"done"}]},"session_id":"'$id'"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"'$id'","usage":{"input_tokens":1,"output_tokens":1},"terminal_reason":"completed"}'
`

/** One file starts five times faster than the sources, and there are hundreds of deaths to die. */
let bundle: string
beforeAll(async () => {
  bundle = mkdtempSync(join(tmpdir(), "bundle-"))
  const graph = await rolldown({
    input: join(import.meta.dirname, "../scene/spaces.entry.ts"),
    platform: "node",
    resolve: { conditionNames: ["meridian-source", "import", "node"] },
    logLevel: "silent",
  })
  await graph.write({ dir: bundle, format: "esm", entryFileNames: "entry.mjs", codeSplitting: false })
  await graph.close()
})
afterAll(() => rmSync(bundle, { recursive: true, force: true }))

const prepare = async (): Promise<Scene> => {
  const scene = openScene([process.execPath, join(bundle, "entry.mjs")])
  writeFileSync(join(scene.bin, "claude"), QUICK_CLAUDE)
  chmodSync(join(scene.bin, "claude"), 0o755)
  await spawn(scene)
  return scene
}

const IN_S1 = { env: { MERIDIAN_SPACE_ID: "s1" } }
const spawn = (scene: Scene) => scene.call("run.spawn", { prompt: "first", model: "opus" })

interface Scenario {
  readonly operation: string
  readonly values: Document
  /** Which process dies. */
  readonly dies: "main" | "worker"
  readonly env?: Readonly<Record<string, string>>
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "a run that makes its space": {
    operation: "run.spawn",
    values: { prompt: "second", model: "opus" },
    dies: "main",
  },
  "the worker of a background run": {
    operation: "run.spawn",
    values: { prompt: "second", model: "opus", background: true },
    dies: "worker",
    env: { MERIDIAN_SPACE_ID: "s1" },
  },
  "the launcher of a background run": {
    operation: "run.spawn",
    values: { prompt: "second", model: "opus", background: true },
    dies: "main",
    env: { MERIDIAN_SPACE_ID: "s1" },
  },
  "start in a new space": { operation: "start", values: { model: "opus", new: true }, dies: "main" },
  "start --continue": { operation: "start", values: { continue: "c1", space: "s1" }, dies: "main" },
}

const die = async (scene: Scene, scenario: Scenario, crash: Readonly<Record<string, string>>) => {
  const env = { ...scenario.env, ...crash, CRASH_IN: scenario.dies }
  const ended = await scene.start(scenario.operation, scenario.values, { env }).ended
  // A worker outlives its parent, and what it leaves must be inspected.
  await settle(scene)
  return ended
}

/** Every process that was started for the project has ended. */
const settle = (scene: Scene): Promise<void> => until(() => processesOf(scene.env["HOME"] ?? "").length === 0)

const countSteps = async (scenario: Scenario): Promise<number> => {
  const scene = await prepare()
  try {
    const file = join(scene.project, "steps")
    const { stderr } = await die(scene, scenario, { CRASH_COUNT: file })
    expect(stderr).toBe("")
    return Number(readFileSync(file, "utf8"))
  } finally {
    scene.close()
  }
}

/** Runs every reading command on every existing space: none fails, and their answers agree. */
const readEverything = async (scene: Scene): Promise<void> => {
  const { document } = await scene.call("space.list", { limit: 100 })
  for (const space of idsIn(document["spaces"], "space_id")) {
    const options = { env: { MERIDIAN_SPACE_ID: space } }
    const listed = idsIn((await scene.call("run.list", { limit: 1000 }, options)).document["runs"], "run_id")
    for (const run of listed.slice(0, 3))
      await scene.call("run.show", { run_id: run, report: true, include_files: true }, options)
    if (listed.length > 0) await scene.call("run.wait", { run_ids: listed }, options)
    expect((await scene.call("run.stats", {}, options)).document).toMatchObject({
      total_runs: listed.length,
      running: 0,
      queued: 0,
    })
    await scene.call("space.show", { space_id: space })
  }
}

const idsIn = (list: unknown, key: string): readonly string[] =>
  Array.isArray(list) ? list.map((item: Document) => String(item[key])) : []

const checkAftermath = async (scene: Scene): Promise<void> => {
  await readEverything(scene)
  expect((await scene.call("doctor")).document).toMatchObject({ ok: true, warnings: [] })
  expect((await scene.call("doctor")).document).toMatchObject({ ok: true, repaired: [] })
  const healthy = scene.snapshot()
  await readEverything(scene)
  expect(scene.snapshot()).toEqual(healthy)
  expect((await scene.call("run.show", { run_id: "r1" }, IN_S1)).document).toMatchObject({
    status: "succeeded",
  })
  expect(readdirSync(scene.state("s1/sessions"))).toEqual([])
  const next = await scene.call("run.spawn", { prompt: "after", model: "opus" }, IN_S1)
  expect(next.document).toMatchObject({ status: "succeeded" })
  checkLog(scene.events("s1/runs.jsonl"))
  checkChats(scene.events("s1/sessions.jsonl"))
}

/** Only whole lines, one start and (now that all are dead) at least one end per run, and no repeated ids. */
const checkLog = (events: readonly Document[]): void => {
  const starts = events.filter((event) => event["event"] === "start").map((event) => event["id"])
  expect(new Set(starts).size).toBe(starts.length)
  for (const id of starts)
    expect(events.filter((event) => event["event"] === "finalize" && event["id"] === id).length).toBe(1)
}

const checkChats = (events: readonly Document[]): void => {
  const count = (kind: string): number => events.filter((event) => event["event"] === kind).length
  expect(count("stop")).toBe(count("start"))
}

const LANES = 2

test.each(Object.entries(SCENARIOS))("%s may die at any step", { timeout: 900_000 }, async (_, scenario) => {
  const steps = await countSteps(scenario)
  expect(steps).toBeGreaterThan(1)
  let next = 1
  // Each lane has one project that dies again and again: the remains of one death must not harm the next.
  const lane = async (): Promise<void> => {
    const scene = await prepare()
    try {
      while (next <= steps) {
        const crashAt = next
        next += 1
        await die(scene, scenario, { CRASH_AT: String(crashAt) })
        await checkAftermath(scene).catch((error: unknown) => {
          throw new Error(`after the death at step ${crashAt} of ${steps}`, { cause: error })
        })
      }
    } finally {
      scene.close()
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
})
