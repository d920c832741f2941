/** No way to overspend, across several harnesses: pretend ones that report their usage. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { afterEach, beforeEach, expect, test } from "vitest"

import { claude as claudeAdapter } from "../../../packages/spaces/src/harness/claude.ts"
import { codeOf, openScene, until, type Scene } from "../../scene/spaces.ts"
import { verifies } from "../../verifies.ts"

let scene: Scene
beforeEach(() => {
  scene = openScene()
})
afterEach(() => scene.close())

const spawn = (values: Readonly<Record<string, unknown>> = {}, options: object = {}) =>
  scene.call("run.spawn", { prompt: "build the parser", ...values }, options)

/** In a separate process, like a user's command: until it has ended, or is paused. */
const spawnApart = async (values: Readonly<Record<string, unknown>>, options: object = {}): Promise<void> => {
  const { ended } = scene.start("run.spawn", { prompt: "build the parser", ...values }, options)
  const { stderr, code } = await ended
  if (code !== 0 && code !== 4) throw new Error(stderr)
}

const lines = (...values: readonly object[]) => values.map((value) => JSON.stringify(value))

/** A Claude request with its usage. */
const message = (id: string, tokens: number, content: object = { type: "text", text: `I am at ${id}.` }) => ({
  type: "assistant",
  parent_tool_use_id: null,
  message: { id, role: "assistant", content: [content], usage: { input_tokens: tokens, output_tokens: 0 } },
})
/** A step of OpenCode with this cost. */
const step = (cost: number) => ({
  type: "step_finish",
  sessionID: "ses_pretend",
  part: {
    reason: "tool-calls",
    tokens: { input: 1_000, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
    cost,
  },
})

const said = (text: string) => ({ type: "text", sessionID: "ses_pretend", part: { type: "text", text } })

const NEVER = "never-there"
const never = () => join(scene.project, NEVER)
const goOn = () => writeFileSync(never(), "")

const run = (id = "r1") => scene.call("run.show", { run_id: id }, IN_S1).then(({ document }) => document)
/** With a supervisor that continues resumed runs. */
const IN_S1 = { env: { MERIDIAN_SPACE_ID: "s1", MERIDIAN_SUPERVISOR: "on" } }

verifies("run-cap.host-flag", async () => {
  const claude = scene.harness("claude", { answer: "Done." })
  const { document } = await spawn({ model: "opus", max_cost: 1.5, max_turns: 40 })
  expect(document).toMatchObject({ status: "succeeded" })
  expect(claude.calls()[0]?.argv.join(" ")).toContain("--max-budget-usd 1.5 --max-turns 40")
})

verifies("run-cap.pauses", async () => {
  scene.harness("opencode", { noise: lines(step(0.4), step(0.7)), release: never() })
  const { document, exitCode, warnings } = await spawn({ harness: "opencode", max_cost: 1 })
  expect(document).toMatchObject({
    status: "paused",
    waiting_for: "budget",
    message: "The budget of this run is used up: 1.10 dollars of 1.00 dollars.",
    attempts: [{ why: "budget", cost_usd: 1.1 }],
  })
  expect(exitCode).toBe(4)
  expect(warnings.join("\n")).toContain("WARNING [RUN_ASKS]")
})

verifies(
  "run-cap.pauses",
  async () => {
    const call = { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "make" } }
    const ended = { type: "tool_result", tool_use_id: "toolu_1", content: "made" }
    scene.harness("claude", {
      noise: lines(message("m1", 900), message("m2", 200, call), {
        type: "user",
        message: { role: "user", content: [ended] },
      }),
      release: never(),
    })
    const { document } = await spawn({ model: "opus", max_tokens: 1_000 })
    expect(document).toMatchObject({ status: "paused", waiting_for: "budget" })
    // The tool had ended when the harness was told to end.
    const types = scene.events("s1/runs/r1/events.jsonl").map(({ type }) => type)
    expect(types.indexOf("tool.ended")).toBeGreaterThan(types.indexOf("tool.started"))
  },
  "in a host that reports its cost only at the end: by tokens, request by request",
)

verifies(
  "run-cap.pauses",
  async () => {
    scene.harness("codex", { hang: "within" })
    const { document } = await spawn({ harness: "codex", max_time: 1 })
    expect(document).toMatchObject({ status: "paused", waiting_for: "budget", attempts: [{ why: "budget" }] })
  },
  "by time at work",
)

test("a host that reports a used-up budget has reached it", () => {
  const parser = claudeAdapter.parser()
  for (const line of lines({
    type: "result",
    subtype: "error_max_budget_usd",
    is_error: true,
    total_cost_usd: 1,
  }))
    parser.push(line)
  const { status, failure } = parser.end({ exitCode: 1, signal: null, stderrTail: "" })
  expect([status, failure?.class]).toEqual(["failed", "budget"])
})

verifies("run-cap.resume", async () => {
  const opencode = scene.harness("opencode", {
    noise: lines(said("I have begun."), step(0.4), step(0.7)),
    release: never(),
  })
  await spawnApart({ harness: "opencode", max_cost: 1 })
  expect(await codeOf(scene.call("run.resume", { run_id: "r1" }, IN_S1))).toBe("BUDGET_SPENT")
  goOn()
  const { document } = await scene.call("run.resume", { run_id: "r1", max_cost: 5 }, IN_S1)
  expect(document).toMatchObject({ run_id: "r1" })
  await until(async () => (await run())["status"] === "succeeded")
  expect(opencode.calls()).toHaveLength(2)
  expect(opencode.calls()[1]?.argv).toContain("--session")
  expect(await run()).toMatchObject({ attempts: [{ why: "budget" }, { why: "succeeded" }] })
})

verifies("run-cap.below-spent", async () => {
  scene.harness("opencode", { noise: lines(step(1.1)), release: never() })
  await spawn({ harness: "opencode", max_cost: 1 })
  const before = scene.snapshot()
  expect(await codeOf(scene.call("run.resume", { run_id: "r1", max_cost: 1.1 }, IN_S1))).toBe(
    "CAP_BELOW_SPENT",
  )
  expect(await codeOf(scene.call("run.resume", { run_id: "r1", max_tokens: 10 }, IN_S1))).toBe(
    "CAP_BELOW_SPENT",
  )
  expect(await codeOf(scene.call("run.resume", { run_id: "r1", max_cost: 0 }, IN_S1))).toBe("USAGE")
  expect(scene.snapshot()).toEqual(before)
})

const configure = (folder: string, text: string): void => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "config.toml"), text)
}

verifies("run-cap.config", async () => {
  const claude = scene.harness("claude", { answer: "Done." })
  const env = { MERIDIAN_BUDGET_RUN_COST: "2" }
  await spawn({ model: "opus" }, { env })
  await spawn({ model: "opus", max_cost: 7 }, { env: { ...env, MERIDIAN_SPACE_ID: "s1" } })
  const child = { ...env, MERIDIAN_SPACE_ID: "s1", MERIDIAN_PARENT_RUN_ID: "r1", MERIDIAN_TIER: "read-only" }
  await spawn({ model: "opus", max_cost: 7 }, { env: child })
  const budgets = claude.calls().map(({ argv }) => argv[argv.indexOf("--max-budget-usd") + 1])
  expect(budgets).toEqual(["2", "7", "2"])
})

verifies("run-cap.folder", async () => {
  const claude = scene.harness("claude", { answer: "Done." })
  configure(join(scene.env["HOME"] ?? "", ".config/meridian"), '[budget]\nrun_cost = 2\nrun_time = "1h"\n')
  configure(join(scene.project, ".meridian"), '[budget]\nrun_cost = 9\nrun_turns = 30\nrun_time = "30m"\n')
  const { warnings } = await spawn({ model: "opus" })
  expect(warnings.join("\n")).toContain("WARNING [BUDGET_CAPPED]")
  expect(claude.calls()[0]?.argv.join(" ")).toContain("--max-budget-usd 2 --max-turns 30")
  const { document } = await scene.call("config.show")
  expect(JSON.stringify(document)).toContain("it is above the budget you set")
})

verifies("run-cap.sums", async () => {
  scene.harness("opencode", { noise: lines(step(0.6)) })
  const claude = scene.harness("claude", { answer: "Done." })
  // Each run of OpenCode costs 0.6081.
  await spawn({ harness: "opencode" })
  const env = { MERIDIAN_SPACE_ID: "s1", MERIDIAN_BUDGET_SPACE_COST: "1", MERIDIAN_BUDGET_DAY_COST: "9" }
  await spawn({ model: "opus" }, { env })
  const [flag] = claude.calls().map(({ argv }) => argv[argv.indexOf("--max-budget-usd") + 1])
  expect(Number(flag)).toBeCloseTo(1 - 0.6081, 3)
  const second = await spawn({ harness: "opencode" }, { env })
  expect(second.document).toMatchObject({ status: "succeeded" })
  const third = await spawn({ harness: "opencode" }, { env })
  expect(third.document).toMatchObject({ status: "paused", waiting_for: "budget" })
  expect(String(third.document["message"])).toContain(
    "The budget of this space (budget.space_cost) is used up",
  )
  expect(third.document["attempts"]).toBeUndefined()
  // In another space on the same day.
  const day = await spawn({ harness: "opencode" }, { env: { MERIDIAN_BUDGET_DAY_COST: "1" } })
  expect(day.document).toMatchObject({ space_id: "s2", status: "paused", waiting_for: "budget" })
  await spawnApart({ harness: "opencode" }, { env })
  // Raised where it was set, it continues.
  expect(await codeOf(scene.call("run.resume", { run_id: "r5" }, { env }))).toBe("BUDGET_SPENT")
  const more = { ...env, MERIDIAN_SUPERVISOR: "on", MERIDIAN_BUDGET_SPACE_COST: "10" }
  await scene.call("run.resume", { run_id: "r5" }, { env: more })
  await until(async () => (await run("r5"))["status"] === "succeeded")
})

verifies(
  "run-cap.sums",
  async () => {
    scene.harness("opencode", { noise: lines(step(0.6)) })
    await spawn({ harness: "opencode" })
    const below = (parent: string) => ({
      env: { MERIDIAN_SPACE_ID: "s1", MERIDIAN_PARENT_RUN_ID: parent, MERIDIAN_BUDGET_TREE_COST: "1.2" },
    })
    expect((await spawn({ harness: "opencode" }, below("r1"))).document).toMatchObject({
      status: "succeeded",
    })
    // A grandchild belongs to the same tree; a run beside it does not.
    expect((await spawn({ harness: "opencode" }, below("r2"))).document).toMatchObject({ status: "paused" })
    const beside = { env: { MERIDIAN_SPACE_ID: "s1", MERIDIAN_BUDGET_TREE_COST: "1.2" } }
    expect((await spawn({ harness: "opencode" }, beside)).document).toMatchObject({ status: "succeeded" })
  },
  "parents and children of a tree",
)

verifies("run-cap.crash", async () => {
  const opencode = scene.harness("opencode", { noise: lines(step(0.4), step(0.5)), release: never() })
  const worker = scene.start("run.spawn", { prompt: "go", harness: "opencode", max_cost: 1.5 })
  const told = () => scene.events("s1/runs/r1/events.jsonl").filter(({ type }) => type === "usage").length
  await until(() => told() === 2)
  worker.child.kill("SIGKILL")
  for (const { pid } of opencode.calls()) process.kill(pid, "SIGKILL")
  await worker.ended
  // No supervisor is there to continue it.
  await scene.call("run.pause", { run_id: "r1" }, IN_S1)
  await scene.call("run.resume", { run_id: "r1" }, IN_S1)
  await until(async () => (await run())["waiting_for"] === "budget")
  expect(await run()).toMatchObject({ attempts: [{ why: "worker_died", cost_usd: 0.9 }, { why: "budget" }] })
})

verifies("run-cap.price", async () => {
  scene.harness("codex", { answer: "Done." })
  const priced = await spawn({ harness: "codex", model: "gpt-5", max_cost: 1 })
  expect(Number((await run())["cost_usd"])).toBeGreaterThan(0)
  expect(priced.warnings.join("\n")).not.toContain("PRICE_UNKNOWN")
  const unpriced = await spawn({ harness: "codex", model: "nobody-knows", max_cost: 1 }, IN_S1)
  expect(unpriced.warnings.join("\n")).toContain("WARNING [PRICE_UNKNOWN]")
})

verifies("run-cap.own", async () => {
  scene.harness("opencode", { noise: lines(step(1.1)), release: never() })
  await spawn({ harness: "opencode", max_cost: 1 })
  await spawnApart(
    { harness: "opencode", max_cost: 1 },
    { env: { ...IN_S1.env, MERIDIAN_PARENT_RUN_ID: "r1" } },
  )
  const as = (parent: string) => ({ env: { ...IN_S1.env, MERIDIAN_PARENT_RUN_ID: parent } })
  expect(await codeOf(scene.call("run.resume", { run_id: "r1", max_cost: 5 }, as("r1")))).toBe(
    "CAP_NOT_YOURS",
  )
  expect(await codeOf(scene.call("run.resume", { run_id: "r1", max_cost: 5 }, as("r2")))).toBe(
    "CAP_NOT_YOURS",
  )
  goOn()
  await scene.call("run.resume", { run_id: "r2", max_cost: 5 }, as("r1"))
  await until(async () => (await run("r2"))["status"] === "succeeded")
})
