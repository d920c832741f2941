import { expect, test } from "vitest"

import { eventInWords, followActivity, NO_ACTIVITY, shortCount, shortTime } from "./run-activity.ts"

test("tools are counted, usage is summed, and the newest act is shown as what it does", () => {
  const events = [
    { type: "session", harness_session_id: "x" },
    { type: "usage", input_tokens: 10, cached_input_tokens: 5, output_tokens: 2, cost_usd: 0.25 },
    { type: "tool.started", call: "1", tool: "bash", input: { command: "npm test\n-- --watch" } },
    { type: "tool.ended", call: "1", tool: "bash", status: "completed", output: "" },
    { type: "usage", input_tokens: 20, cached_input_tokens: 0, output_tokens: 3, cost_usd: 0.5 },
    { type: "tool.started", call: "2", tool: "Read", input: { file_path: "a.ts" } },
    { type: "turn.ended", reason: "tool-calls" },
  ]
  expect(events.reduce(followActivity, NO_ACTIVITY)).toEqual({
    doing: "Read a.ts",
    open: new Map([["2", "Read a.ts"]]),
    said: undefined,
    tool: "Read a.ts",
    at: undefined,
    tools: 2,
    inputTokens: 35,
    outputTokens: 5,
    costUsd: 0.75,
  })
})

test("an open call is shown as what it does, whatever is said in between", () => {
  const events = [
    { type: "tool.started", call: "1", tool: "bash", input: { command: "sleep 9" } },
    { type: "text", text: "I wait." },
  ]
  const { doing, said, tool } = events.reduce(followActivity, NO_ACTIVITY)
  expect([doing, said, tool]).toEqual(["bash sleep 9", "I wait.", "bash sleep 9"])
  const ended = [
    ...events,
    { type: "tool.ended", call: "1", status: "completed" },
    { type: "text", text: "So." },
  ]
  expect(ended.reduce(followActivity, NO_ACTIVITY).doing).toBe("writing")
})

test("a harness that reports no cost has none", () => {
  expect(followActivity(NO_ACTIVITY, { type: "usage", input_tokens: 1, output_tokens: 1 }).costUsd).toBe(
    undefined,
  )
})

test("an event in words contains no control characters and stays on one line", () => {
  expect(eventInWords({ type: "tool.started", tool: "bash", input: { command: "\u001b[2Jrm\n-rf x" } })).toBe(
    "> bash rm -rf x",
  )
  expect(eventInWords({ type: "text", text: "one\u0007\ntwo" })).toBe("one␇\ntwo")
  expect(eventInWords({ type: "tool.ended", status: "failed", output: "no\nfile" })).toBe("  failed: no file")
  expect(eventInWords({ type: "tool.ended", status: "completed", output: "fine" })).toBeUndefined()
  expect(eventInWords({ type: "never heard of" })).toBeUndefined()
  expect(eventInWords({})).toBeUndefined()
})

test("figures are short", () => {
  expect([0, 999, 1_234, 12_345, 2_500_000].map(shortCount)).toEqual(["0", "999", "1.2k", "12k", "2.5M"])
  expect([0, 59.9, 75, 3_700].map(shortTime)).toEqual(["0s", "59s", "1m 15s", "1h 1m"])
})
