/** Caps on runs of the engine, through the shipped program. */
import { readFileSync } from "node:fs"
import { join } from "node:path"

import type { ScriptStep } from "@meridian/engine/script"
import { createClient } from "@meridian/server/client"
import { expect, vi } from "vitest"

import { directScene } from "../direct-scene.ts"
import { verifies } from "../verifies.ts"
import { document } from "./cli-binary.ts"
import { startServer } from "./server-process.ts"

/** 100,000 tokens of this model cost 30 cents. No two calls are the same. */
const acting = (n: number): ScriptStep => ({
  tools: [{ name: "glob", input: { pattern: `*.${n}` } }],
  usage: { input: 100_000, output: 0 },
})

const SPAWN = ["run", "spawn", "--harness", "direct", "-p", "look around"] as const

verifies("run-cap.engine", async () => {
  const scene = await directScene({ script: [1, 2, 3, 4].map(acting).concat({ text: "All seen." }) })
  const ran = await scene.run(...SPAWN, "--max-cost", "0.5")
  expect([ran.code, ran.stdout]).toEqual([4, ""])
  expect(ran.stderr).toContain("WARNING [RUN_ASKS]")
  expect(scene.asked()).toHaveLength(2)
  const show = async () => document(await scene.run("run", "show", "r1", "--space", "s1", "--json"))
  const paused = await show()
  expect(paused).toMatchObject({
    status: "paused",
    waiting_for: "budget",
    attempts: [{ why: "budget", cost_usd: 0.6 }],
  })
  const again = await scene.run("run", "resume", "r1", "--space", "s1")
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("ERROR [BUDGET_SPENT]")])
  const low = await scene.run("run", "resume", "r1", "--space", "s1", "--max-cost", "0.6")
  expect(low.stderr).toContain("ERROR [CAP_BELOW_SPENT]")
  expect((await scene.run("run", "resume", "r1", "--space", "s1", "--max-cost", "3")).code).toBe(0)
  await scene.run("run", "wait", "r1", "--space", "s1")
  expect(await show()).toMatchObject({
    status: "succeeded",
    harness_session_id: Reflect.get(Object(paused), "harness_session_id"),
  })
  const asked = scene.asked()
  expect(asked).toHaveLength(5)
  // The conversation that continues holds what was done before.
  expect(asked.at(-1)).toContain("*.1")
})

verifies(
  "overspend.run",
  async () => {
    const script = [acting(1), { ...acting(2), hold: true }, acting(3), acting(4)]
    const scene = await directScene({ script, env: { MERIDIAN_SUPERVISOR: "on" } })
    await scene.run(...SPAWN, "--background", "--max-cost", "0.5")
    await scene.provider.arrived(2)
    const log = join(scene.project, ".meridian/.spaces/s1/runs.jsonl")
    const pid = (of: string): number =>
      Number([...readFileSync(log, "utf8").matchAll(new RegExp(`"${of}_pid":(\\d+)`, "g"))].at(-1)?.[1])
    process.kill(pid("worker"), "SIGKILL")
    process.kill(-pid("harness"), "SIGKILL")
    await vi.waitFor(() => expect(readFileSync(log, "utf8")).toContain('"waiting_for":"budget"'), 60_000)
    // The cut-off question is asked again; it had no answer before.
    expect(scene.asked()).toHaveLength(3)
    expect(document(await scene.run("run", "show", "r1", "--space", "s1", "--json"))).toMatchObject({
      status: "paused",
      cost_usd: 0.6,
      attempts: [{ why: "worker_died", cost_usd: 0.3 }, { why: "budget" }],
    })
  },
  "of the engine, killed in the middle of a request",
)

verifies(
  "run-cap.sums",
  async () => {
    const task = { tools: [{ name: "task", input: { description: "look", prompt: "look around" } }] }
    const scene = await directScene({
      script: [task, acting(1), acting(2), acting(3), { text: "Seen." }, { text: "All seen." }],
      env: { MERIDIAN_BUDGET_SPACE_COST: "0.5" },
    })
    const ran = await scene.run(...SPAWN, "--permission", "workspace-write")
    expect(ran.code).toBe(4)
    // The parent's turn cost next to nothing. Its child was stopped within its third of the budget.
    expect(scene.asked().length).toBeLessThanOrEqual(4)
    const shown = Object(document(await scene.run("run", "show", "r1", "--space", "s1", "--json")))
    expect(Reflect.get(shown, "cost_usd")).toBeCloseTo(0.6, 2)
  },
  "the usage of a session's children is part of the sum while they work",
)

verifies("questions.answer", async () => {
  const scene = await directScene({ script: [...[1, 2, 3].map(acting), { text: "All seen." }] })
  await scene.run(...SPAWN, "--max-cost", "0.5")
  const open = document(await scene.run("questions", "--json"))
  expect(open).toMatchObject({ questions: [{ question_id: "s1/r1", kind: "budget", run_id: "r1" }] })
  expect((await scene.run("questions")).stdout).toContain(
    "s1/r1  budget  Run r1 is paused: The budget of this",
  )
  for (const [answer, code] of [
    ["a lot", "INVALID_INPUT"],
    ["0.6", "CAP_BELOW_SPENT"],
    ["continue", "BUDGET_SPENT"],
  ] as const)
    expect((await scene.run("answer", "s1/r1", answer)).stderr).toContain(`ERROR [${code}]`)
  expect((await scene.run("answer", "s1/r9", "5")).stderr).toContain("ERROR [QUESTION_NOT_FOUND]")
  expect((await scene.run("answer", "que_none", "5")).stderr).toContain("ERROR [QUESTION_NOT_FOUND]")
  expect((await scene.run("answer", "s1/r1", "$3")).code).toBe(0)
  await scene.run("run", "wait", "r1", "--space", "s1")
  expect(document(await scene.run("run", "show", "r1", "--space", "s1", "--json"))).toMatchObject({
    status: "succeeded",
  })
  expect((await scene.run("questions")).stdout).toBe("Nothing waits for an answer.\n")
})

verifies("questions.ask", async () => {
  const asks: ScriptStep = { tools: [{ name: "bash", input: { command: "echo made > made.txt" } }] }
  const scene = await directScene({ script: [asks, { text: "Refused." }, asks, { text: "Made." }] })
  const plain = await scene.run(...SPAWN, "--permission", "workspace-write")
  expect([plain.code, plain.stdout]).toEqual([0, "Refused.\n"])
  const waiting = scene.run(...SPAWN, "--permission", "workspace-write", "--ask", "--space", "s1")
  const show = async () => document(await scene.run("run", "show", "r2", "--space", "s1", "--json"))
  for (;;) {
    const { questions = [] } = Object(document(await scene.run("questions", "--json")))
    const [first] = questions
    if (first === undefined) continue
    expect(first).toMatchObject({ kind: "permission", answers: ["once", "always", "reject"] })
    expect(await show()).toMatchObject({ status: "waiting", waiting_for: "permission" })
    expect((await scene.run("answer", first.question_id, "perhaps")).stderr).toContain("ERROR [USAGE]")
    expect((await scene.run("answer", first.question_id, "once")).code).toBe(0)
    break
  }
  expect((await waiting).stdout).toBe("Made.\n")
  expect(await show()).toMatchObject({ status: "succeeded" })
})

verifies("run-cap.http", async () => {
  const scene = await directScene({ script: [...[1, 2, 3].map(acting), { text: "All seen." }] })
  await scene.run(...SPAWN, "--max-cost", "0.5")
  const server = await startServer(scene.project, ["--port", "0"], scene.env)
  const { spaces } = createClient({ url: server.url, token: server.token })
  const place = { spaceID: "s1", runID: "r1" }
  expect(await spaces.run(place)).toMatchObject({ status: "paused", waitingFor: "budget" })
  await expect(spaces.resume(place)).rejects.toMatchObject({ code: "BUDGET_SPENT", status: 409 })
  await expect(spaces.resume({ ...place, maxCost: 0.5 })).rejects.toMatchObject({ code: "CAP_BELOW_SPENT" })
  expect(await spaces.resume({ ...place, maxCost: 3 })).toMatchObject({ runId: "r1" })
  await scene.run("run", "wait", "r1", "--space", "s1")
  expect(await spaces.run(place)).toMatchObject({ status: "succeeded" })
  await server.end("SIGTERM")
})
