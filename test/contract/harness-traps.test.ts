/** Where the real CLIs mislead a launcher: cases that were seen but not recorded. */
import type { Harness, HarnessEvent, ParserOptions, ProcessEnd, Verdict } from "@meridian/spaces"
import { findHarness, readStream } from "@meridian/spaces"
import { expect, test } from "vitest"

const load = async (id: string): Promise<Harness> => {
  const harness = await findHarness(id)?.load()
  if (harness === undefined) throw new Error(`no harness ${id}`)
  return harness
}
const claude = await load("claude")
const codex = await load("codex")
const opencode = await load("opencode")

const read = (
  harness: Harness,
  lines: readonly object[],
  end: Partial<ProcessEnd> = {},
  options: ParserOptions = {},
): { readonly events: readonly HarnessEvent[]; readonly verdict: Verdict } => {
  const reader = readStream(harness.parser(options))
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("")
  const events = reader.feed(new TextEncoder().encode(text))
  return { events, verdict: reader.end({ exitCode: 0, signal: null, stderrTail: "", ...end }).verdict }
}

const CLAUDE_INIT = { type: "system", subtype: "init", session_id: "s1" }
const claudeResult = (fields: object): object => ({
  type: "result",
  session_id: "s1",
  subtype: "success",
  ...fields,
})

test("claude: subtype success with is_error is a failure, even with exit code 0", () => {
  const result = claudeResult({ is_error: true, api_error_status: 500, result: "API Error: 500" })
  expect(read(claude, [CLAUDE_INIT, result]).verdict).toMatchObject({
    status: "failed",
    failure: { class: "server_error", transient: true },
  })
})

test("claude: a good result with another exit code than 0 is a failure", () => {
  const result = claudeResult({ is_error: false, result: "done" })
  expect(read(claude, [CLAUDE_INIT, result], { exitCode: 1 }).verdict.status).toBe("failed")
})

test("claude: exit code 0 without a result is an unfinished run", () => {
  expect(read(claude, [CLAUDE_INIT]).verdict).toMatchObject({
    status: "failed",
    failure: { class: "incomplete" },
  })
})

test.each([
  [{ result: "done" }, "succeeded"],
  [{ subtype: "error_max_turns" }, "failed"],
  [{ subtype: "error_during_execution", is_error: false, result: "done" }, "succeeded"],
])("claude: a result %j is %s", (fields, status) => {
  expect(read(claude, [CLAUDE_INIT, claudeResult(fields)]).verdict.status).toBe(status)
})

test("claude: a wrong key is given up after three tries instead of ten, and said once", () => {
  const retry = (attempt: number): object => ({
    type: "system",
    subtype: "api_retry",
    attempt,
    error_status: 401,
    error: "authentication_failed",
  })
  const lines = [CLAUDE_INIT, retry(1), retry(2), retry(3), retry(4)]
  const { events, verdict } = read(claude, lines, { exitCode: null, signal: "SIGTERM" })
  expect(events.map((event) => event.type)).toEqual([
    "session",
    "retry",
    "retry",
    "retry",
    "give-up",
    "retry",
  ])
  expect(verdict).toMatchObject({ status: "failed", failure: { class: "authentication" } })
})

test("claude: the answer of a sub-agent and the ids of hooks are not the run's", () => {
  const said = (text: string, parent: string | null): object => ({
    type: "assistant",
    session_id: "s1",
    parent_tool_use_id: parent,
    message: { content: [{ type: "text", text }] },
  })
  const hook = { type: "system", subtype: "hook_started", session_id: "other" }
  const { verdict } = read(claude, [hook, CLAUDE_INIT, said("mine", null), said("of a sub-agent", "toolu_1")])
  expect(verdict).toMatchObject({ harnessSessionId: "s1", report: "mine" })
})

test("claude: cost of a continued session is unknown rather than cumulative", () => {
  const result = claudeResult({
    is_error: false,
    result: "x",
    total_cost_usd: 5,
    usage: { input_tokens: 1, cache_read_input_tokens: 2, output_tokens: 3 },
  })
  const usage = { inputTokens: 1, cachedInputTokens: 2, outputTokens: 3 }
  expect(read(claude, [result], {}, { continued: true }).verdict.usage).toEqual(usage)
  expect(read(claude, [result]).verdict.usage).toEqual({ ...usage, costUsd: 5 })
})

test("claude: files written by successful calls are told, those of failed calls are not", () => {
  const call = (id: string, path: string): object => ({
    type: "tool_use",
    id,
    name: "Write",
    input: { file_path: path, content: "x" },
  })
  const answer = (id: string, isError: boolean): object => ({
    type: "user",
    message: { content: [{ type: "tool_result", tool_use_id: id, content: "ok", is_error: isError }] },
  })
  const calls = { type: "assistant", message: { content: [call("1", "/a"), call("2", "/b")] } }
  const { events } = read(claude, [calls, answer("1", false), answer("2", true)])
  expect(events.filter((event) => event.type === "file")).toEqual([
    { type: "file", path: "/a", change: "written" },
  ])
})

const THREAD = { type: "thread.started", thread_id: "t1" }
const usage = (input: number, cached: number, output: number): object => ({
  type: "turn.completed",
  usage: { input_tokens: input, cached_input_tokens: cached, output_tokens: output },
})

test("codex: usage is cumulative over the thread, so a continuation subtracts what was before", () => {
  const before = { inputTokens: 1200, cachedInputTokens: 300, outputTokens: 7 }
  const { verdict } = read(
    codex,
    [THREAD, usage(2800, 300, 11)],
    {},
    { continued: true, usageBefore: before },
  )
  expect(verdict.usage).toEqual({ inputTokens: 1300, cachedInputTokens: 0, outputTokens: 4 })
  expect(verdict.sessionUsage).toEqual({ inputTokens: 2500, cachedInputTokens: 300, outputTokens: 11 })
})

test("codex: notices and items of type error do not fail a turn that completes", () => {
  const lines = [
    THREAD,
    { type: "item.completed", item: { type: "error", message: "Model metadata not found" } },
    { type: "error", message: "Reconnecting... 1/5 (stream disconnected)" },
    { type: "item.completed", item: { type: "agent_message", text: "done" } },
    usage(1, 0, 1),
  ]
  const { events, verdict } = read(codex, lines)
  expect(verdict).toMatchObject({ status: "succeeded", report: "done" })
  expect(events).toContainEqual({
    type: "retry",
    attempt: 1,
    failure: "connection",
    message: "Reconnecting... 1/5 (stream disconnected)",
  })
})

test("codex: exit code 0 with an answer is a success, with nothing said it is not", () => {
  const answer = { type: "item.completed", item: { type: "agent_message", text: "done" } }
  expect(read(codex, [THREAD, answer]).verdict).toMatchObject({ status: "succeeded", report: "done" })
  expect(read(codex, [THREAD, answer], { exitCode: 1 }).verdict.status).toBe("failed")
  expect(read(codex, [THREAD]).verdict).toMatchObject({ failure: { class: "incomplete" } })
})

test("opencode: an answer without the end of its step is not finished, whatever the exit code", () => {
  const lines = [open("step_start", {}), said("half")]
  expect(read(opencode, lines).verdict).toMatchObject({ failure: { class: "incomplete" }, report: "half" })
})

test("codex: a failed turn is a failure even with exit code 0", () => {
  const lines = [
    THREAD,
    { type: "turn.failed", error: { message: "unexpected status 500 Internal Server Error" } },
  ]
  expect(read(codex, lines).verdict).toMatchObject({ status: "failed", failure: { class: "server_error" } })
})

test("codex: file changes are told by path and kind", () => {
  const item = {
    type: "file_change",
    status: "completed",
    changes: [
      { path: "/a", kind: "add" },
      { path: "/b", kind: "delete" },
    ],
  }
  expect(read(codex, [{ type: "item.completed", item }]).events).toEqual([
    { type: "file", path: "/a", change: "written" },
    { type: "file", path: "/b", change: "deleted" },
  ])
})

const open = (type: string, fields: object): object => ({ type, sessionID: "ses_1", ...fields })
const step = (reason: string): object =>
  open("step_finish", { part: { reason, tokens: { input: 1, output: 1 }, cost: 0 } })
const said = (text: string): object => open("text", { part: { text } })
const OVERFLOW = open("error", { error: { name: "ContextOverflowError", data: { message: "too long" } } })

test("opencode: an overflow it recovered from is a success, although it exits with 1", () => {
  const lines = [
    OVERFLOW,
    open("step_start", {}),
    said("summary"),
    step("stop"),
    open("step_start", {}),
    said("answer"),
    step("stop"),
  ]
  expect(read(opencode, lines, { exitCode: 1 }).verdict).toMatchObject({
    status: "succeeded",
    report: "answer",
  })
})

test("opencode: an error after the last answer is a failure, also with exit code 0", () => {
  const lines = [open("step_start", {}), said("answer"), step("stop"), OVERFLOW]
  expect(read(opencode, lines).verdict).toMatchObject({
    status: "failed",
    failure: { class: "context_overflow" },
  })
})

test("opencode: a rejected permission ends the turn with exit code 0 and is a failure", () => {
  const state = { status: "error", error: "The user rejected permission to use this specific tool call." }
  const lines = [
    open("step_start", {}),
    open("tool_use", { part: { tool: "read", state } }),
    step("tool-calls"),
  ]
  expect(read(opencode, lines).verdict).toMatchObject({
    status: "failed",
    failure: { class: "permission_rejected", transient: false },
  })
})

test("opencode: an answer cut at the output limit is not finished", () => {
  const lines = [open("step_start", {}), said("half"), step("length")]
  expect(read(opencode, lines).verdict).toMatchObject({
    status: "failed",
    failure: { class: "incomplete" },
    report: "half",
  })
})

test("opencode: compactions with work between them are no reason to give up", () => {
  const again = open("text", {
    part: { text: "Continue", synthetic: true, metadata: { compaction_continue: true } },
  })
  const work = open("tool_use", {
    part: { tool: "bash", callID: "1", state: { status: "completed", output: "" } },
  })
  const types = (lines: readonly object[]): readonly string[] =>
    read(opencode, lines).events.map(({ type }) => type)
  expect(types([again, again, again, work, again, again, again, work])).not.toContain("give-up")
  expect(types([again, again, again, again])).toContain("give-up")
})
