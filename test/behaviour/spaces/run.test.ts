import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { afterEach, beforeEach, expect, test } from "vitest"

import { codeOf, openScene, openSignals, until, type Scene } from "../../scene/spaces.ts"
import { verifies } from "../../verifies.ts"

let scene: Scene
beforeEach(() => {
  scene = openScene()
})
afterEach(() => scene.close())

const IN_S1 = { env: { MERIDIAN_SPACE_ID: "s1" } }
const spawn = (values: Readonly<Record<string, unknown>> = {}, options = {}) =>
  scene.call("run.spawn", { prompt: "do it", model: "opus", ...values }, options)

verifies("run.auto-create", async () => {
  scene.harness("claude")
  const { document, warnings } = await spawn()
  expect(warnings).toEqual([
    "WARNING [SPACE_AUTO_CREATED]: No MERIDIAN_SPACE_ID set. Created space s1. Next: set MERIDIAN_SPACE_ID=s1 for subsequent commands.",
  ])
  expect(document).toMatchObject({ run_id: "r1", space_id: "s1", status: "succeeded", exit_code: 0 })
})

verifies("run.start-event", async () => {
  scene.harness("claude")
  await spawn()
  expect(scene.events("s1/runs.jsonl")[0]).toMatchObject({
    v: 2,
    event: "start",
    id: "r1",
    harness: "claude",
    status: "running",
    cwd: scene.project,
  })
  expect(scene.events("s1/runs.jsonl")[0]).not.toHaveProperty("chat_id")
  // The user's own words, without anything that was wrapped around them.
  expect(scene.events("s1/runs.jsonl")[0]).toMatchObject({ task: "do it" })
  expect(readFileSync(scene.state("s1/runs.jsonl"), "utf8")).not.toContain("final message")
})

verifies("run.finalize-event", async () => {
  scene.harness("claude")
  await spawn()
  expect(scene.events("s1/runs.jsonl").at(-1)).toMatchObject({
    v: 2,
    event: "finalize",
    id: "r1",
    status: "succeeded",
    exit_code: 0,
    by: "worker",
  })
})

verifies("run.artifacts", async () => {
  scene.harness("claude")
  await spawn()
  expect(readdirSync(scene.state("s1/runs/r1")).toSorted()).toEqual([
    "events.jsonl",
    "output.jsonl",
    "params.json",
    "prompt.md",
    "report.md",
    "stderr.log",
  ])
  expect(readFileSync(scene.state("s1/runs/r1/prompt.md"), "utf8")).toContain("do it")
})

verifies("run.records-session", async () => {
  const claude = scene.harness("claude")
  await spawn()
  const [call] = claude.calls()
  expect(scene.events("s1/sessions.jsonl")).toEqual([
    expect.objectContaining({ event: "start", chat_id: "c1", run_id: "r1", harness: "claude" }),
    { v: 1, event: "update", chat_id: "c1", harness_session_id: call?.session },
    expect.objectContaining({ event: "stop", chat_id: "c1" }),
  ])
  expect(readdirSync(scene.state("s1/sessions"))).toEqual([])
})

verifies("env.contract", async () => {
  const claude = scene.harness("claude")
  await spawn()
  expect(claude.calls()[0]?.env).toMatchObject({
    MERIDIAN_SPACE_ID: "s1",
    MERIDIAN_SPACE_FS: scene.state("s1/fs"),
    MERIDIAN_CHAT_ID: "c1",
    MERIDIAN_SESSION_ID: "c1",
    MERIDIAN_HARNESS_COMMAND: "claude",
    MERIDIAN_STATE_ROOT: join(scene.project, ".meridian"),
    MERIDIAN_DEPTH: "1",
    MERIDIAN_PARENT_RUN_ID: "r1",
    MERIDIAN_REPORT_PATH: scene.state("s1/runs/r1/report.md"),
  })
})

verifies("run.report-on-stdout", async () => {
  scene.harness("claude", { answer: "All is well." })
  const { text, notes } = await spawn()
  expect(text).toBe("All is well.")
  expect(notes).toMatch(
    /^run_id=r1 model=claude-opus-5-5 harness=claude status=succeeded duration=\d+\.\ds exit_code=0$/,
  )
})

test("what the agent wrote to MERIDIAN_REPORT_PATH is the report", async () => {
  scene.harness("claude", { answer: "short", report: "# Long\n\nreport\n" })
  const { document } = await spawn()
  expect(document).toMatchObject({
    report: "# Long\n\nreport",
    report_path: scene.state("s1/runs/r1/report.md"),
  })
})

verifies("run.json-without-prompt", async () => {
  scene.harness("claude")
  const { document } = await spawn()
  expect(JSON.stringify(document)).not.toContain("do it")
  expect(Object.values(document)).not.toContain(null)
  expect(document).toMatchObject({ report: "Pretend answer.", report_path: expect.any(String) })
})

verifies("run.no-report-warns", async () => {
  scene.harness("claude", { hang: "before" })
  const { text, notes, exitCode } = await spawn({ timeout_secs: 0.4 })
  expect(text).toBe("")
  expect(notes).toContain("WARNING [NO_REPORT]: Run r1 left no report.")
  expect(exitCode).toBe(3)
})

verifies("run.dry-run-writes-nothing", async () => {
  scene.harness("claude")
  const { document } = await spawn({ dry_run: true })
  expect(document).toMatchObject({
    status: "dry-run",
    harness: "claude",
    composed_prompt: expect.stringContaining("do it"),
  })
  expect(existsSync(join(scene.project, ".meridian"))).toBe(false)
})

verifies("run.space-required", async () => {
  for (const [name, values] of [
    ["run.list", {}],
    ["run.show", { run_id: "r1" }],
    ["run.wait", { run_ids: ["r1"] }],
    ["run.stats", {}],
    ["run.cancel", { run_id: "r1" }],
    ["run.files", { run_id: "r1" }],
    ["run.continue", { run_id: "r1", prompt: "x" }],
  ] as const)
    expect(await codeOf(scene.call(name, values))).toBe("SPACE_REQUIRED")
})

test("whoever names no space is told the newest there is, and is not sent to make another", async () => {
  scene.harness("claude")
  await spawn()
  await expect(scene.call("run.wait", { run_ids: ["r1"] })).rejects.toMatchObject({
    code: "SPACE_REQUIRED",
    facts: { newest: "s1" },
  })
})

test("a missing harness is exit code 2 and leaves no trace", async () => {
  const options = { env: { PATH: join(scene.project, "nowhere") } }
  await expect(spawn({}, options)).rejects.toMatchObject({ code: "HARNESS_NOT_INSTALLED" })
  expect(existsSync(join(scene.project, ".meridian"))).toBe(false)
})

verifies("run.timeout", async () => {
  scene.harness("claude", { hang: "within", ignoreSignals: ["SIGTERM"] })
  const { document, exitCode } = await spawn(
    { timeout_secs: 1.5 },
    { env: { MERIDIAN_KILL_GRACE_SECONDS: "0.2" } },
  )
  expect(document).toMatchObject({ status: "failed", exit_code: 3, failure_reason: "timeout" })
  expect(exitCode).toBe(3)
})

verifies("run.cancelled", async () => {
  scene.harness("claude", { hang: "within" })
  const signals = openSignals()
  const running = spawn({}, { signals })
  await until(() => scene.events("s1/runs.jsonl").some((event) => event["harness_pid"] !== undefined))
  signals.send("SIGTERM")
  const { document, exitCode } = await running
  expect(document).toMatchObject({ status: "cancelled", exit_code: 143 })
  expect(exitCode).toBe(143)
})

verifies(
  "run.cancelled",
  async () => {
    scene.harness("claude", { hang: "within", ignoreSignals: ["SIGTERM"] })
    const env = { MERIDIAN_KILL_GRACE_SECONDS: "0.2" }
    await spawn({ background: true }, { env })
    expect(
      (await scene.call("run.cancel", { run_id: "r1" }, { env: { ...env, ...IN_S1.env } })).document,
    ).toEqual({
      run_id: "r1",
      space_id: "s1",
      status: "cancelled",
      exit_code: 143,
    })
    expect((await scene.call("run.cancel", { run_id: "r1" }, IN_S1)).document).toMatchObject({
      already_ended: true,
    })
  },
  "by run cancel, with a harness that does not listen",
)

verifies("run.background-prints-id", async () => {
  scene.harness("claude")
  const { document, text } = await spawn({ background: true })
  expect(text).toBe("r1")
  expect(document).toMatchObject({ run_id: "r1", background: true })
  const waited = await scene.call("run.wait", { run_ids: ["r1"], report: true }, IN_S1)
  expect(waited.document).toMatchObject({ status: "succeeded", exit_code: 0, any_failed: false })
  expect(waited.exitCode).toBe(0)
})

verifies("run.background-worker-owns", async () => {
  scene.harness("claude", { release: join(scene.project, "go") })
  await spawn({ background: true })
  await until(() => scene.events("s1/sessions.jsonl").length > 0)
  const [start] = scene.events("s1/sessions.jsonl")
  expect(start?.["holder_pid"]).not.toBe(process.pid)
  expect(start?.["holder_pid"]).toBe(scene.events("s1/runs.jsonl")[0]?.["worker_pid"])
  await scene.call("run.cancel", { run_id: "r1" }, IN_S1)
  expect(scene.events("s1/sessions.jsonl").at(-1)).toMatchObject({ event: "stop", chat_id: "c1" })
})

verifies("run.retries-transient", async () => {
  const claude = scene.harness("claude", { failFirst: { times: 2, failure: "rate_limit" } })
  const { document } = await spawn({}, { env: { MERIDIAN_RETRY_BACKOFF_SECONDS: "0.01" } })
  expect(document).toMatchObject({
    status: "succeeded",
    attempts: [
      { harness: "claude", why: "rate_limit" },
      { harness: "claude", why: "rate_limit" },
      { harness: "claude", why: "succeeded" },
    ],
  })
  expect(claude.calls().length).toBe(3)
  expect(
    readdirSync(scene.state("s1/runs/r1"))
      .filter((name) => name.startsWith("output"))
      .toSorted(),
  ).toEqual(["output.attempt-2.jsonl", "output.attempt-3.jsonl", "output.jsonl"])
})

verifies(
  "run.retries-transient",
  async () => {
    for (const failure of ["authentication", "context_overflow"] as const) {
      const claude = scene.harness("claude", { failFirst: { times: 9, failure } })
      const before = claude.calls().length
      const { document, exitCode } = await spawn({}, { env: { MERIDIAN_RETRY_BACKOFF_SECONDS: "0.01" } })
      expect(document).toMatchObject({ status: "failed", failure_reason: failure })
      expect(exitCode).toBe(1)
      expect(claude.calls().length - before).toBe(1)
    }
  },
  "and nothing else",
)

verifies("run.depth", async () => {
  scene.harness("claude")
  await spawn()
  expect(await codeOf(spawn({}, { env: { MERIDIAN_DEPTH: "3" } }))).toBe("MAX_DEPTH")
  // The variable says 0, but the parent's row knows better.
  const env = { MERIDIAN_SPACE_ID: "s1", MERIDIAN_PARENT_RUN_ID: "r1", MERIDIAN_DEPTH: "0" }
  await spawn({}, { env })
  expect(scene.events("s1/runs.jsonl").find((event) => event["id"] === "r2")).toMatchObject({
    depth: 1,
    parent_run_id: "r1",
  })
  expect(await codeOf(spawn({}, { env: { ...env, MERIDIAN_MAX_DEPTH: "1" } }))).toBe("MAX_DEPTH")
  // Naming the space instead of inheriting it hides nothing.
  const named = { MERIDIAN_PARENT_RUN_ID: "r2", MERIDIAN_DEPTH: "0" }
  await spawn({ space: "s1" }, { env: named })
  expect(scene.events("s1/runs.jsonl").find((event) => event["id"] === "r3")).toMatchObject({
    depth: 2,
    parent_run_id: "r2",
  })
  expect(await codeOf(spawn({ space: "s1" }, { env: { ...named, MERIDIAN_MAX_DEPTH: "2" } }))).toBe(
    "MAX_DEPTH",
  )
})

test("every command that looks at a run reports a damaged line in the middle of the log", async () => {
  scene.harness("claude")
  await spawn()
  await spawn({}, IN_S1)
  const log = scene.state("s1/runs.jsonl")
  const lines = readFileSync(log, "utf8").split("\n")
  writeFileSync(log, lines.with(1, "GARBAGE").join("\n"))
  const told = [
    `WARNING [LOG_DAMAGED]: ${log}:2 is damaged and was skipped. Next: look at the line; its content is ignored.`,
  ]
  for (const name of ["run.show", "run.files", "run.cancel"])
    expect((await scene.call(name, { run_id: "r2" }, IN_S1)).warnings).toEqual(told)
  expect((await scene.call("run.wait", { run_ids: ["r2"] }, IN_S1)).warnings).toEqual(told)
  expect((await scene.call("run.list", { limit: 1 }, IN_S1)).warnings).toEqual(told)
})

verifies("run.queued", async () => {
  const release = join(scene.project, "go")
  scene.harness("claude", { release })
  const env = { MERIDIAN_MAX_PARALLEL: "1", MERIDIAN_SPACE_ID: "s1" }
  await scene.call("space.list")
  await spawn({ background: true }, { env: { MERIDIAN_MAX_PARALLEL: "1" } })
  const second = await spawn({ background: true }, { env })
  expect(second.document).toMatchObject({ run_id: "r2", status: "queued" })
  expect((await scene.call("run.stats", {}, IN_S1)).document).toMatchObject({ queued: 1, running: 1 })
  writeFileSync(release, "")
  const { document } = await scene.call("run.wait", { run_ids: ["r1", "r2"] }, IN_S1)
  expect(document).toMatchObject({ succeeded_runs: 2 })
})

verifies("run.continue-resumes", async () => {
  const claude = scene.harness("claude")
  await spawn()
  const { document } = await scene.call("run.continue", { run_id: "r1", prompt: "more" }, IN_S1)
  const [first, second] = claude.calls()
  expect(second?.argv).toContain("--resume")
  expect(second?.session).toBe(first?.session)
  expect(document).toMatchObject({ run_id: "r2", continued_from: "r1", harness_session_id: first?.session })
  expect(
    scene
      .events("s1/sessions.jsonl")
      .filter((event) => event["event"] === "start")
      .map((event) => event["chat_id"]),
  ).toEqual(["c1", "c1"])
})

test("a fork continues in its own conversation", async () => {
  const claude = scene.harness("claude")
  await spawn()
  const { document } = await scene.call("run.continue", { run_id: "r1", prompt: "more", fork: true }, IN_S1)
  expect(document["harness_session_id"]).not.toBe(claude.calls()[0]?.session)
  expect(
    scene
      .events("s1/sessions.jsonl")
      .filter((event) => event["event"] === "start")
      .map((event) => event["chat_id"]),
  ).toEqual(["c1", "c2"])
})

verifies("run.continue-last-of-chat", async () => {
  scene.harness("claude")
  const inChat = (chat: string) => ({ env: { MERIDIAN_SPACE_ID: "s1", MERIDIAN_CHAT_ID: chat } })
  await spawn()
  await spawn({}, inChat("c7"))
  await spawn({}, inChat("c8"))
  expect((await scene.call("run.continue", { prompt: "go on" }, inChat("c7"))).document).toMatchObject({
    continued_from: "r2",
    chat_id: "c7",
  })
  expect(await codeOf(scene.call("run.continue", { prompt: "go on" }, inChat("c9")))).toBe("NO_RUN")
})

test("a run continues where it was started, and never with a model of another harness", async () => {
  const claude = scene.harness("claude")
  scene.harness("codex")
  mkdirSync(join(scene.project, "sub"))
  await spawn({ cwd: "sub" })
  await scene.call("run.continue", { run_id: "r1", prompt: "more" }, { ...IN_S1, cwd: scene.project })
  expect(claude.calls().map((call) => call.cwd)).toEqual([
    join(scene.project, "sub"),
    join(scene.project, "sub"),
  ])
  await expect(
    scene.call("run.continue", { run_id: "r1", prompt: "x", model: "codex" }, IN_S1),
  ).rejects.toThrow("Session r1 was started with Claude. Cannot continue with a Codex model.")
})

test("a running run is not continued", async () => {
  scene.harness("claude", { hang: "within" })
  await spawn({ background: true })
  expect(await codeOf(scene.call("run.continue", { run_id: "r1", prompt: "x" }, IN_S1))).toBe("RUN_ALIVE")
  await scene.call("run.cancel", { run_id: "r1" }, IN_S1)
})

test("runs are listed by the id of their model and by its alias", async () => {
  scene.harness("claude")
  await spawn()
  await spawn({ model: "sonnet" }, IN_S1)
  for (const model of ["sonnet", "claude-sonnet-5-5"])
    expect((await scene.call("run.list", { model }, IN_S1)).document).toMatchObject({
      runs: [{ run_id: "r2" }],
    })
  expect((await scene.call("run.list", { model: "haiku" }, IN_S1)).document).toEqual({ runs: [] })
})

test("lists are newest first, references name one run, and the three words of references work", async () => {
  scene.harness("claude")
  await spawn()
  await spawn({}, IN_S1)
  scene.harness("claude", { failFirst: { times: 99, failure: "authentication" } })
  await spawn({}, IN_S1)
  const ids = async (values = {}) => {
    const { text } = await scene.call("run.list", values, IN_S1)
    return text.split("\n").map((line) => line.split(" ")[0])
  }
  expect(await ids()).toEqual(["r3", "r2", "r1"])
  expect(await ids({ limit: 2 })).toEqual(["r3", "r2"])
  expect(await ids({ failed: true })).toEqual(["r3"])
  expect(await ids({ status: "succeeded", limit: 1 })).toEqual(["r2"])
  const named = async (run_id: string) => (await scene.call("run.show", { run_id }, IN_S1)).document["run_id"]
  expect([await named("@latest"), await named("@last-failed"), await named("@last-completed")]).toEqual([
    "r3",
    "r3",
    "r2",
  ])
  expect(await codeOf(scene.call("run.show", { run_id: "@nope" }, IN_S1))).toBe("RUN_REFERENCE_UNKNOWN")
  expect(await codeOf(scene.call("run.show", { run_id: "r404" }, IN_S1))).toBe("RUN_NOT_FOUND")
})

verifies("run.report-flag", async () => {
  scene.harness("claude", { answer: "The report." })
  await spawn()
  expect((await scene.call("run.show", { run_id: "r1" }, IN_S1)).document).not.toHaveProperty("report")
  expect((await scene.call("run.show", { run_id: "r1", report: true }, IN_S1)).document).toMatchObject({
    report: "The report.",
  })
  expect((await scene.call("run.wait", { run_ids: ["r1"], report: true }, IN_S1)).text).toContain(
    "The report.",
  )
})

test("waiting for a run that does not end times out with 124 and leaves it alone", async () => {
  scene.harness("claude", { hang: "within" })
  await spawn({ background: true })
  await expect(scene.call("run.wait", { run_ids: ["r1"], timeout_secs: 0.3 }, IN_S1)).rejects.toMatchObject({
    code: "WAIT_TIMEOUT",
  })
  expect((await scene.call("run.show", { run_id: "r1" }, IN_S1)).document).toMatchObject({
    status: "running",
  })
  await scene.call("run.cancel", { run_id: "r1" }, IN_S1)
  expect((await scene.call("run.wait", { run_ids: ["r1"] }, IN_S1)).exitCode).toBe(1)
})

test("the files a run wrote are listed", async () => {
  scene.harness("claude", { replay: join(import.meta.dirname, "../../fixture/recordings/claude-tool") })
  expect((await spawn()).document["status"]).toBeDefined()
  const { document } = await scene.call("run.files", { run_id: "r1" }, IN_S1)
  expect(document).toMatchObject({ run_id: "r1", files: expect.any(Array) })
})

verifies("state.reads-write-nothing", async () => {
  scene.harness("claude")
  await spawn()
  const before = scene.snapshot()
  for (const [name, values] of [
    ["run.list", {}],
    ["run.list", { failed: true }],
    ["run.show", { run_id: "@latest", report: true, include_files: true }],
    ["run.wait", { run_ids: ["r1"] }],
    ["run.stats", {}],
    ["run.files", { run_id: "r1" }],
    ["space.list", {}],
    ["space.show", { space_id: "s1" }],
    ["doctor", {}],
  ] as const)
    await scene.call(name, values, IN_S1)
  expect(scene.snapshot()).toEqual(before)
})

test.each([
  ["a flood of ten megabyte lines", { flood: { lines: 3, bytes: 10_000_000 } }],
  ["a prompt that is never read", { stdin: "unread" as const }],
  ["a prompt pipe that is closed at once", { stdin: "closed" as const }],
  ["a grandchild that holds the pipe for a minute", { grandchildSeconds: 60 }],
])("a run settles in spite of %s", async (_, behaviour) => {
  scene.harness("claude", behaviour)
  const { document } = await spawn({ prompt: "x".repeat(200_000) })
  expect(document).toMatchObject({ status: "succeeded", report: "Pretend answer." })
})

test("over MCP a run has its own worker, and cancelling the call cancels it", async () => {
  scene.harness("claude")
  const first = await spawn({}, { face: "tool" })
  expect(first.document).toMatchObject({ status: "succeeded", report: "Pretend answer." })
  expect(scene.events("s1/runs.jsonl")[0]?.["worker_pid"]).not.toBe(process.pid)
  expect((await scene.call("run.wait", { run_id: "r1" }, { ...IN_S1, face: "tool" })).document).toMatchObject(
    { run_id: "r1" },
  )
  scene.harness("claude", { hang: "within" })
  const signals = openSignals()
  const running = spawn({}, { ...IN_S1, face: "tool", signals })
  await until(() =>
    scene.events("s1/runs.jsonl").some((event) => event["id"] === "r2" && event["harness_pid"] !== undefined),
  )
  signals.send("SIGTERM")
  expect((await running).document).toMatchObject({ run_id: "r2", status: "cancelled" })
})

test("a space an older writer left half made takes runs and chats", async () => {
  scene.harness("claude")
  mkdirSync(scene.state("s4"), { recursive: true })
  writeFileSync(
    scene.state("s4/space.json"),
    '{"schema_version":1,"id":"s4","name":"old","status":"active","created_at":"2026-03-01T00:00:00Z","finished_at":null}',
  )
  const inOld = { env: { MERIDIAN_SPACE_ID: "s4" } }
  expect((await spawn({}, inOld)).document).toMatchObject({ run_id: "r1", status: "succeeded" })
  expect((await spawn({ background: true }, inOld)).text).toBe("r2")
  await scene.call("run.wait", { run_ids: ["r2"] }, inOld)
  expect((await scene.call("start", { model: "opus" })).document).toMatchObject({
    space_id: "s4",
    chat_id: "c3",
  })
  expect(readdirSync(scene.state("s4")).toSorted()).toContain("fs")
})

test("if the harness chose the model, the run says so, and the line for programs keeps its fields", async () => {
  scene.harness("opencode")
  const { document, notes } = await scene.call("run.spawn", { prompt: "do it", harness: "opencode" })
  expect(document).toMatchObject({ model: "", harness: "opencode" })
  expect(notes).toContain("run_id=r1 model=default harness=opencode status=")
  expect((await scene.call("run.list", {}, IN_S1)).text).toMatch(/^r1 +succeeded +- /m)
  expect((await scene.call("run.show", { run_id: "r1" }, IN_S1)).text).toContain(
    "Model: chosen by opencode\n",
  )
  expect((await scene.call("run.stats", {}, IN_S1)).document).toMatchObject({
    models: { "chosen by opencode": 1 },
  })
})
