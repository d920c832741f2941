/** The task outlives its harness: pretend harnesses that reach limits, refuse, crash, or are missing. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { afterEach, beforeEach, expect, test } from "vitest"

import { codeOf, openScene, until, type Scene } from "../../scene/spaces.ts"
import { verifies } from "../../verifies.ts"

let scene: Scene
beforeEach(() => {
  scene = openScene()
})
afterEach(() => scene.close())

const IN_S1 = { env: { MERIDIAN_SPACE_ID: "s1" } }
const QUICK = { env: { MERIDIAN_RETRY_BACKOFF_SECONDS: "0.01" } }
const LONG_LIMIT = {
  times: 9,
  failure: "rate_limit",
  words: "usage limit reached, resets in 5 hours",
} as const

const spawn = (values: Readonly<Record<string, unknown>> = {}, options: object = QUICK) =>
  scene.call("run.spawn", { prompt: "build the parser", model: "opus", ...values }, options)

/** The lines of a Claude that has already done something before its configured behaviour. */
const SAID = JSON.stringify({
  type: "assistant",
  parent_tool_use_id: null,
  message: { role: "assistant", content: [{ type: "text", text: "I have begun." }] },
})

/** Which chats began and ended, in order. */
const chats = () =>
  scene
    .events("s1/sessions.jsonl")
    .filter(({ event }) => event !== "update")
    .map(({ event, chat_id, harness }) => [event, chat_id, harness].filter((part) => part !== undefined))

verifies("failover.goes-on", async () => {
  scene.harness("claude", { noise: [SAID], failFirst: LONG_LIMIT })
  const codex = scene.harness("codex", { answer: "All done." })
  const { document, warnings } = await spawn({ failover: ["codex"] })
  expect(document).toMatchObject({
    run_id: "r1",
    status: "succeeded",
    harness: "codex",
    report: "All done.",
    attempts: [
      { harness: "claude", why: "rate_limit" },
      { harness: "codex", why: "succeeded" },
    ],
  })
  expect(warnings.join("\n")).toContain(
    "WARNING [RUN_HANDED_OVER]: Claude cannot continue run r1, so Codex takes over",
  )
  const [call] = codex.calls()
  expect(call?.stdin).toMatch(
    /^\[meridian\] This task was begun in Claude, which cannot go on \(rate_limit\)\./,
  )
  expect(call?.stdin).toMatch(/build the parser$/)
  // Each harness has its own chat, and both are over.
  expect(chats()).toEqual([
    ["start", "c1", "claude"],
    ["stop", "c1"],
    ["start", "c2", "codex"],
    ["stop", "c2"],
  ])
  expect(scene.events("s1/sessions.jsonl").filter(({ event }) => event === "start")).toMatchObject([
    { task: "build the parser" },
    { task: "build the parser" },
  ])
})

verifies(
  "failover.goes-on",
  async () => {
    scene.harness("claude", { failFirst: { times: 9, failure: "authentication" } })
    scene.harness("codex", { failFirst: { times: 9, failure: "authentication" } })
    const opencode = scene.harness("opencode", { answer: "All done." })
    const { document } = await spawn({ failover: ["codex", "opencode"] })
    expect(document).toMatchObject({
      status: "succeeded",
      cost_usd: 0.0081,
      attempts: [{ harness: "claude" }, { harness: "codex" }, { harness: "opencode" }],
    })
    // No work was done before, so there is nothing to hand over.
    expect(opencode.calls()[0]?.stdin).not.toContain("[meridian]")
  },
  "to the third if the second refuses too",
)

verifies(
  "failover.goes-on",
  async () => {
    const claude = scene.harness("claude", { dieBy: "SIGKILL" })
    scene.harness("codex", { answer: "All done." })
    const { document } = await spawn({ failover: ["codex"] })
    expect(document).toMatchObject({
      attempts: [...Array.from({ length: 3 }, () => ({ why: "crashed" })), { harness: "codex" }],
    })
    expect(claude.calls()).toHaveLength(3)
  },
  "after three crashes",
)

verifies(
  "failover.goes-on",
  async () => {
    scene.harness("claude", {
      noise: [SAID],
      failFirst: { times: 1, failure: "rate_limit", words: "usage limit reached, try again in 2 seconds" },
      answer: "Back again.",
    })
    scene.harness("codex", { failFirst: LONG_LIMIT })
    const env = { ...QUICK.env, MERIDIAN_FAILOVER_AFTER: "1s" }
    const { document } = await spawn({ failover: ["codex"] }, { env })
    expect(document).toMatchObject({
      status: "succeeded",
      harness: "claude",
      report: "Back again.",
      attempts: [{ harness: "claude" }, { harness: "codex" }, { harness: "claude", why: "succeeded" }],
    })
    expect(scene.events("s1/runs.jsonl").some(({ status }) => status === "waiting")).toBe(true)
    expect(chats().filter(([event]) => event === "start")).toEqual([
      ["start", "c1", "claude"],
      ["start", "c2", "codex"],
      ["start", "c1", "claude"],
    ])
  },
  "and back, when the limit of the first ends before that of the second",
)

verifies(
  "failover.goes-on",
  async () => {
    mkdirSync(join(scene.project, ".meridian"), { recursive: true })
    writeFileSync(
      join(scene.project, ".meridian/config.toml"),
      '[runs]\nfailover = ["opencode", "claude", "codex"]\nfailover_after = "10m"\n',
    )
    scene.harness("claude", { failFirst: LONG_LIMIT })
    scene.harness("codex", { answer: "All done." })
    scene.harness("opencode")
    expect((await spawn()).document).toMatchObject({ harness: "codex" })
    // An empty list counts: no harness takes over.
    const env = { ...QUICK.env, MERIDIAN_SPACE_ID: "s1" }
    await spawn({ failover: [], background: true }, { env })
    await until(() =>
      scene.events("s1/runs.jsonl").some(({ id, status }) => id === "r2" && status === "waiting"),
    )
    await scene.call("run.cancel", { run_id: "r2" }, IN_S1)
  },
  "by the configured list, starting at its own harness",
)

verifies("failover.off", async () => {
  scene.harness("claude", { failFirst: LONG_LIMIT })
  const codex = scene.harness("codex")
  await spawn({ background: true })
  await until(() => scene.events("s1/runs.jsonl").some(({ status }) => status === "waiting"))
  expect((await scene.call("run.show", { run_id: "r1" }, IN_S1)).document).toMatchObject({
    status: "waiting",
    waiting_for: "limit",
    attempts: [{ harness: "claude" }],
  })
  expect(codex.calls()).toEqual([])
  await scene.call("run.cancel", { run_id: "r1" }, IN_S1)
})

verifies("failover.unknown-name", async () => {
  scene.harness("claude")
  expect(await codeOf(spawn({ failover: ["codx"] }))).toBe("FAILOVER_UNKNOWN")
  mkdirSync(join(scene.project, ".meridian"), { recursive: true })
  writeFileSync(join(scene.project, ".meridian/config.toml"), '[runs]\nfailover = ["claude", "gpt"]\n')
  await expect(spawn()).rejects.toMatchObject({
    code: "FAILOVER_UNKNOWN",
    message: "runs.failover names 'gpt', which is not a harness.",
  })
  expect(existsSync(join(scene.project, ".meridian/.spaces"))).toBe(false)
})

verifies("failover.gone", async () => {
  scene.harness("codex", { answer: "All done." })
  const options = { env: { ...QUICK.env, PATH: `${scene.bin}:/usr/bin:/bin` } }
  const { document, warnings } = await spawn({ failover: ["codex"] }, options)
  expect(document).toMatchObject({
    status: "succeeded",
    attempts: [
      { harness: "claude", why: "not_started" },
      { harness: "codex", why: "succeeded" },
    ],
  })
  expect(warnings.join("\n")).toContain("[FAILOVER_UNUSABLE]: Claude cannot take over now")
})

test("the handover is composed once: a retry of the same harness gets the same words", async () => {
  scene.harness("claude", { noise: [SAID], failFirst: LONG_LIMIT })
  const codex = scene.harness("codex", { failFirst: { times: 2, failure: "overload" }, answer: "All done." })
  await spawn({ failover: ["codex"] })
  const told = codex.calls().map(({ stdin }) => stdin)
  expect(told).toHaveLength(3)
  expect(new Set(told).size).toBe(1)
})

verifies("failover.by-hand", async () => {
  scene.harness("claude", { answer: "Half done." })
  const codex = scene.harness("codex", { answer: "All done." })
  await spawn()
  const { document } = await scene.call(
    "run.continue",
    { run_id: "r1", prompt: "now the tests", harness: "codex" },
    IN_S1,
  )
  expect(document).toMatchObject({
    run_id: "r2",
    continued_from: "r1",
    harness: "codex",
    status: "succeeded",
    report: "All done.",
  })
  expect(codex.calls()[0]?.stdin).toMatch(/^\[meridian\] This task was begun in Claude\..*now the tests$/s)
  // The pinned task is the first one plus the newest message.
  expect(scene.events("s1/sessions.jsonl").findLast(({ event }) => event === "start")).toMatchObject({
    chat_id: "c2",
    harness: "codex",
    task: "build the parser\n\nnow the tests",
  })
})

test("run continue works in another directory if one is given", async () => {
  const claude = scene.harness("claude")
  await spawn()
  const elsewhere = join(scene.project, "moved")
  mkdirSync(elsewhere)
  await scene.call("run.continue", { run_id: "r1", prompt: "go on", cwd: "moved" }, IN_S1)
  expect(claude.calls().map(({ cwd }) => cwd)).toEqual([scene.project, elsewhere])
  expect(
    await codeOf(scene.call("run.continue", { run_id: "r1", prompt: "go on", cwd: "nowhere" }, IN_S1)),
  ).toBe("DIRECTORY_NOT_FOUND")
})

verifies("session.gone", async () => {
  const claude = scene.harness("claude", { answer: "Half done.", forgets: true })
  await spawn()
  const { document, warnings } = await scene.call(
    "run.continue",
    { run_id: "r1", prompt: "now the tests" },
    IN_S1,
  )
  expect(document).toMatchObject({
    status: "succeeded",
    attempts: [{ why: "session_not_found" }, { why: "succeeded" }],
  })
  expect(warnings.join("\n")).toContain("WARNING [SESSION_BEGUN_ANEW]")
  const [first, resumed, anew] = claude.calls()
  expect(resumed?.session).toBe(first?.session)
  expect(anew?.session).not.toBe(first?.session)
  expect(anew?.stdin).toMatch(/^\[meridian\] The earlier conversation of this run is gone/)
  expect(anew?.stdin).toContain("build the parser")
  expect(anew?.stdin).toMatch(/now the tests$/)
})

for (const name of ["claude", "codex"] as const)
  verifies(
    "limit.same-conversation",
    async () => {
      const harness = scene.harness(name, {
        keeps: true,
        failFirst: { times: 1, failure: "rate_limit", words: "usage limit reached, try again in 1 second" },
        answer: "All done.",
      })
      const { document } = await spawn({ model: name === "claude" ? "opus" : "codex" })
      expect(document).toMatchObject({ status: "succeeded" })
      const [first, second] = harness.calls()
      expect(second?.session).toBe(first?.session)
      expect(second?.stdin).toMatch(/^\[meridian\] The usage limit has passed/)
      expect(second?.stdin).not.toContain("build the parser")
    },
    name,
  )
