import { decodeEvent, messageId, type Json, type LiveEvent, type StoredEvent } from "@meridian/protocol"
import { expect, test } from "vitest"

import { summaryOfInput } from "./row.ts"
import { createTimeline } from "./timeline.ts"

const USAGE = { input: 100, output: 20, reasoning: 5, cacheRead: 40, cacheWrite: 10 }
const MESSAGE = "msg_a"
const delta = (text: string, assistantMessageID = messageId(MESSAGE)): LiveEvent => ({
  type: "text.delta",
  data: { assistantMessageID, delta: text },
})

/** Events as the server sends them: `[type, data]`, numbered and one second apart. */
const fold = (...list: readonly (readonly [type: string, data?: object])[]) => {
  const timeline = createTimeline()
  for (const [place, [type, data = {}]] of list.entries())
    timeline.apply(
      decodeEvent({
        seq: place + 1,
        time: (place + 1) * 1_000,
        type: `session.next.${type}`,
        data: JSON.stringify(data),
      }),
    )
  return timeline
}

const STARTED = [
  "step.started.1",
  { assistantMessageID: MESSAGE, agent: "build", model: "fake/one" },
] as const
const CALLED = [
  "tool.called.1",
  { assistantMessageID: MESSAGE, callID: "c1", tool: "bash", input: { command: "ls" } },
] as const
const ENDED = [
  "step.ended.2",
  { assistantMessageID: MESSAGE, finish: "tool-calls", usage: USAGE, cost: 0.5 },
] as const
const INTERRUPTED = { code: "interrupted", message: "Tool execution interrupted" }
const TOOL_INTERRUPTED = [
  "tool.failed.1",
  { assistantMessageID: MESSAGE, callID: "c1", error: INTERRUPTED },
] as const

test("a prompt waits until it is promoted and is a row from then on", () => {
  const admitted = [
    "prompt.admitted.1",
    { messageID: "msg_u", prompt: { text: "hello" }, delivery: "queue", resume: true },
  ] as const
  const waiting = fold(admitted)
  expect([...waiting.pending.values()]).toEqual([{ id: "msg_u", text: "hello", delivery: "queue" }])
  expect(waiting.rows).toEqual([])
  const promoted = fold(admitted, ["prompt.promoted.1", { messageID: "msg_u", admittedSeq: 1 }])
  expect(promoted.pending.size).toBe(0)
  expect(promoted.rows).toEqual([
    {
      kind: "user",
      key: "msg_u",
      seq: 2,
      time: 2_000,
      messageID: "msg_u",
      body: { text: "hello", cut: 0 },
      files: 0,
      delivery: "queue",
    },
  ])
})

test("a cancelled prompt no longer waits", () => {
  const timeline = fold(
    ["prompt.admitted.1", { messageID: "msg_u", prompt: { text: "hello" }, delivery: "steer", resume: true }],
    ["prompt.cancelled.1", { messageID: "msg_u" }],
  )
  expect(timeline.pending.size).toBe(0)
  expect(timeline.rows).toMatchObject([{ kind: "notice", text: "A waiting prompt was taken back" }])
})

test("a call has its duration and its outcome", () => {
  const timeline = fold(STARTED, CALLED, ENDED, [
    "tool.success.1",
    { assistantMessageID: MESSAGE, callID: "c1", content: [{ type: "text", text: "a.ts" }] },
  ])
  expect(timeline.rows[1]).toMatchObject({
    kind: "tool",
    tool: "bash",
    summary: "ls",
    input: { text: '{\n  "command": "ls"\n}', cut: 0 },
    outcome: "success",
    time: 2_000,
    ended: 4_000,
    output: { text: "a.ts", cut: 0 },
  })
  expect(timeline.rows[0]).toMatchObject({ kind: "turn", turn: 1, outcome: "ended", cost: 0.5, ended: 3_000 })
  expect(timeline.isBusy()).toBe(false)
})

test("the tokens of a turn are all that went in, cached or not", () => {
  expect(fold(STARTED, ENDED).points).toEqual([
    { kind: "turn", turn: 1, tokens: 150, output: 25, model: "fake/one" },
  ])
})

test("a call that ends as interrupted after a request was interrupted", () => {
  const timeline = fold(STARTED, CALLED, ["interrupt.requested.1"], TOOL_INTERRUPTED)
  expect(timeline.rows.map((row) => row.kind)).toEqual(["turn", "tool", "notice"])
  expect(timeline.rows[1]).toMatchObject({ outcome: "interrupted" })
})

test("work that ends as interrupted without a request was cut off by a crash, which is shown once", () => {
  const timeline = fold(STARTED, CALLED, TOOL_INTERRUPTED, [
    "step.failed.2",
    { assistantMessageID: MESSAGE, error: { code: "INTERRUPTED", message: "The process ended." } },
  ])
  expect(timeline.rows[0]).toMatchObject({ kind: "turn", outcome: "crashed" })
  expect(timeline.rows[1]).toMatchObject({ kind: "tool", outcome: "crashed" })
  expect(timeline.rows.filter((row) => row.kind === "notice" && row.what === "crash")).toHaveLength(1)
})

test("an interrupt of earlier work does not hide a later crash", () => {
  const timeline = fold(["interrupt.requested.1"], STARTED, CALLED, TOOL_INTERRUPTED)
  expect(timeline.rows[2]).toMatchObject({ outcome: "crashed" })
})

test("a question is open until it is answered", () => {
  const asked = [
    "permission.asked.1",
    {
      requestID: "per_1",
      assistantMessageID: MESSAGE,
      callID: "c1",
      action: "bash",
      resources: ["ls"],
      title: "List files",
      always: [],
    },
  ] as const
  const open = fold(STARTED, CALLED, asked)
  expect([...open.questions.keys()]).toEqual(["per_1"])
  expect(open.rows[1]).toMatchObject({ outcome: "waiting", requestID: "per_1" })
  const answered = fold(STARTED, CALLED, asked, [
    "permission.replied.1",
    { requestID: "per_1", reply: "once", parked: false },
  ])
  expect(answered.questions.size).toBe(0)
  expect(answered.rows[1]).toMatchObject({ outcome: "running" })
  // The question of a call ends with the call.
  expect(fold(STARTED, CALLED, asked, TOOL_INTERRUPTED).questions.size).toBe(0)
})

test("a compaction carries its receipt and a point of the plot", () => {
  const end = {
    reason: "manual",
    method: "model",
    summary: "S",
    recent: "R",
    range: { from: 1, through: 2 },
    kept: [],
    messages: 2,
    tokens: { before: 900, after: 300 },
    usage: USAGE,
    cost: 0,
    removedQuotes: ["never said"],
  }
  const timeline = fold(
    ["compaction.started.1", { compactionID: "cmp_1", reason: "manual", model: "fake/one", tokens: 900 }],
    ["compaction.ended.2", { compactionID: "cmp_1", ...end }],
  )
  expect(timeline.rows).toMatchObject([
    { kind: "compaction", status: "ended", time: 1_000, ended: 2_000, end: { ...end, facts: [] } },
  ])
  expect(timeline.points).toEqual([
    { kind: "compaction", turn: 0, compactionID: "cmp_1", before: 900, after: 300 },
  ])
})

test("an event that comes twice is applied once", () => {
  const timeline = fold(STARTED)
  const again: StoredEvent = {
    seq: 1,
    time: 5,
    type: "session.next.agent.switched.1",
    data: { agent: "plan" },
  }
  timeline.apply(again)
  expect(timeline.rows).toHaveLength(1)
  expect(timeline.seq()).toBe(1)
})

test("an event of a newer version is a line that says so", () => {
  expect(fold(["something.new.9"]).rows).toMatchObject([
    { kind: "notice", text: "An event this version cannot read: session.next.something.new.9" },
  ])
})

test("fragments are shown while a turn runs and give way to its text", () => {
  const timeline = fold(STARTED)
  timeline.applyLive(delta("Hel"))
  timeline.applyLive(delta("lo"))
  expect(timeline.live()?.body.text).toBe("Hello")
  timeline.apply(
    decodeEvent({
      seq: 2,
      time: 2,
      type: "session.next.text.ended.1",
      data: JSON.stringify({ assistantMessageID: MESSAGE, text: "Hello" }),
    }),
  )
  expect(timeline.live()).toBeUndefined()
  expect(timeline.rows.at(-1)).toMatchObject({ kind: "text", body: { text: "Hello" }, live: false })
})

test("fragments of a turn that is not open are left out, and a long one keeps its newest part", () => {
  const timeline = fold(STARTED)
  timeline.applyLive(delta("x", messageId("msg_b")))
  expect(timeline.live()).toBeUndefined()
  timeline.applyLive(delta(`${"a".repeat(8_000)}end`))
  expect(timeline.live()?.body).toEqual({ text: `${"a".repeat(7_997)}end`, cut: 3 })
})

test("a long output is kept up to its bound, with the count of what is missing", () => {
  const timeline = fold(STARTED, CALLED, [
    "tool.success.1",
    { assistantMessageID: MESSAGE, callID: "c1", content: [{ type: "text", text: "x".repeat(8_001) }] },
  ])
  expect(timeline.rows[1]).toMatchObject({ output: { text: "x".repeat(8_000), cut: 1 } })
})

test("a call is shown by its most telling value", () => {
  const summary = (input: Json | undefined, raw?: string) => summaryOfInput(input, raw)
  expect(summary({ description: "List", command: "ls -l" })).toBe("ls -l")
  expect(summary({ number: 1 })).toBe('{"number":1}')
  expect(summary(undefined, '{"broken')).toBe('{"broken')
  expect(summary("x".repeat(300))).toHaveLength(200)
})

test("a call that delegates work has the session that does it, and how that ended", () => {
  const task = { assistantMessageID: MESSAGE, callID: "c1", sessionID: "ses_child" }
  const began = ["task.started.1", { ...task, agent: "helper", title: "look" }] as const
  expect(fold(STARTED, CALLED, began).rows.at(-1)).toMatchObject({
    kind: "tool",
    child: { sessionID: "ses_child", agent: "helper" },
  })
  const ended = ["task.ended.1", { ...task, status: "done", usage: USAGE, cost: 1, turns: 2 }] as const
  expect(fold(STARTED, CALLED, began, ended).rows.at(-1)).toMatchObject({ child: { status: "done" } })
})
