import type { StoredEvent } from "@meridian/protocol"
import { expect, test } from "vitest"

import { openSpanFold } from "./fold-spans.ts"
import type { Span } from "./span.ts"

const USAGE = { input: 100, output: 10, reasoning: 5, cacheRead: 20, cacheWrite: 3 }

/** A log in short form: each entry is one second after the previous one. */
const log = (...entries: readonly (readonly [string, object])[]): readonly StoredEvent[] => {
  const events: readonly object[] = entries.map(([type, data], index) => ({
    seq: index + 1,
    time: (index + 1) * 1_000,
    type: `session.next.${type}`,
    data,
  }))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- events written by hand
  return events as readonly StoredEvent[]
}

const ADMITTED = [
  "prompt.admitted.1",
  { messageID: "p1", prompt: { text: "SECRET PROMPT" }, delivery: "steer", resume: true },
] as const
const PROMOTED = ["prompt.promoted.1", { messageID: "p1", admittedSeq: 2 }] as const
const started = (id: string) =>
  [
    "step.started.1",
    { assistantMessageID: id, agent: "build", model: "anthropic/sonnet", contextWindow: 1 },
  ] as const
const ended = (id: string, finish = "stop") =>
  ["step.ended.2", { assistantMessageID: id, finish, usage: USAGE, cost: 0.5 }] as const
const called = (id: string, call: string) =>
  [
    "tool.called.1",
    { assistantMessageID: id, callID: call, tool: "bash", input: { command: "SECRET COMMAND" } },
  ] as const
const success = (id: string, call: string) =>
  [
    "tool.success.1",
    { assistantMessageID: id, callID: call, content: [{ type: "text", text: "SECRET OUTPUT" }] },
  ] as const
const CREATED = ["created.1", { sessionID: "s", location: { directory: "/" } }] as const

const WHOLE = log(
  CREATED,
  ADMITTED,
  PROMOTED,
  started("m1"),
  called("m1", "c1"),
  ended("m1", "tool-calls"),
  [
    "permission.asked.1",
    {
      requestID: "r",
      assistantMessageID: "m1",
      callID: "c1",
      action: "bash",
      resources: [],
      title: "",
      always: [],
    },
  ],
  ["permission.replied.1", { requestID: "r", reply: "once", parked: false }],
  success("m1", "c1"),
  started("m2"),
  [
    "retried.1",
    {
      assistantMessageID: "m2",
      attempt: 1,
      delayMs: 5,
      error: { code: "overloaded", message: "SECRET ERROR" },
    },
  ],
  ["text.ended.1", { assistantMessageID: "m2", text: "SECRET ANSWER" }],
  ended("m2"),
)

const fold = (events: readonly StoredEvent[], content = false, session = "s"): readonly Span[] => {
  const open = openSpanFold({ session, content })
  return events.flatMap((event) => open.event(event))
}

test("a turn, its call, the next turn and the root, which comes last and sums them up", () => {
  const spans = fold(WHOLE)
  expect(spans.map(({ name, kind, start, end }) => [name, kind, start, end])).toEqual([
    ["chat anthropic/sonnet", "client", 4_000, 6_000],
    ["execute_tool bash", "internal", 5_000, 9_000],
    ["chat anthropic/sonnet", "client", 10_000, 13_000],
    ["invoke_agent build", "internal", 3_000, 13_000],
  ])
  const root = spans.at(-1)
  expect(spans.slice(0, -1).map(({ parentSpanId }) => parentSpanId)).toEqual(
    Array.from({ length: 3 }, () => root?.spanId),
  )
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(4)
  expect(root).not.toHaveProperty("parentSpanId")
  expect(root?.attributes).toEqual({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "build",
    "gen_ai.conversation.id": "s",
    "gen_ai.usage.input_tokens": 246,
    "gen_ai.usage.output_tokens": 30,
    "gen_ai.usage.cache_read.input_tokens": 40,
    "gen_ai.usage.cache_creation.input_tokens": 6,
    "meridian.cost_usd": 1,
    "meridian.turns": 2,
    "meridian.retries": 1,
    "meridian.tool_failures": 0,
    "meridian.interrupted": false,
  })
  expect(spans[1]?.attributes).toMatchObject({ "gen_ai.tool.name": "bash", "meridian.wait_ms": 1_000 })
  expect(spans[2]?.events).toEqual([
    { name: "retry", time: 11_000, attributes: { "meridian.attempt": 1, "error.type": "overloaded" } },
  ])
})

test("ids follow from the log: folded again, or from the cursor on, they are the same; another session has others", () => {
  expect(fold(WHOLE)).toEqual(fold(WHOLE))
  const more = [
    ...WHOLE,
    ...log(
      ...Array.from({ length: 13 }, () => CREATED),
      ADMITTED,
      PROMOTED,
      started("m3"),
      ended("m3"),
    ).slice(13),
  ]
  const first = openSpanFold({ session: "s", content: false })
  for (const event of WHOLE) first.event(event)
  expect(first.settledSeq()).toBe(13)
  const rest = more.filter(({ seq }) => seq > first.settledSeq())
  expect(fold(rest)).toEqual(fold(more).slice(4))
  const ids = (session: string) => fold(WHOLE, false, session).map(({ spanId }) => spanId)
  expect(ids("s").some((id) => ids("t").includes(id))).toBe(false)
})

test("nothing that was said or done is sent unless configured", () => {
  expect(JSON.stringify(fold(WHOLE))).not.toContain("SECRET")
  const told = JSON.stringify(fold(WHOLE, true))
  for (const secret of ["SECRET PROMPT", "SECRET COMMAND", "SECRET OUTPUT", "SECRET ANSWER"])
    expect(told).toContain(secret)
})

test("while work is open the cursor stays before it", () => {
  const open = openSpanFold({ session: "s", content: false })
  const seqs = WHOLE.map((event) => {
    open.event(event)
    return open.settledSeq()
  })
  expect(seqs).toEqual([1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 13])
})

const failing = (error: { readonly code: string; readonly message: string }) =>
  log(CREATED, ADMITTED, PROMOTED, started("m1"), ["step.failed.2", { assistantMessageID: "m1", error }])

test("a failure ends the trace with an error; an interruption is told as one", () => {
  const failed = fold(failing({ code: "auth", message: "SECRET wrong key" }))
  expect(failed.map(({ name, error, attributes }) => [name, error, attributes["error.type"]])).toEqual([
    ["chat anthropic/sonnet", "auth", "auth"],
    ["invoke_agent build", "failed", "failed"],
  ])
  expect(fold(failing({ code: "INTERRUPTED", message: "x" })).at(-1)?.attributes).toMatchObject({
    "meridian.interrupted": true,
    "error.type": "interrupted",
  })
})

test("the next process ends what a dead one left open, once, and sends every named parent", () => {
  const cut = WHOLE.slice(0, 6)
  const open = openSpanFold({ session: "s", content: false })
  const sent = cut.flatMap((event) => open.event(event))
  expect(sent.map(({ name }) => name)).toEqual(["chat anthropic/sonnet"])
  const closed = open.close()
  expect(closed.map(({ name }) => name)).toEqual(["execute_tool bash", "invoke_agent build"])
  expect(open.close()).toEqual([])
  expect(open.settledSeq()).toBe(6)
  const named = [...sent, ...closed].flatMap(({ parentSpanId }) => parentSpanId ?? [])
  const ids = new Set([...sent, ...closed].map(({ spanId }) => spanId))
  expect(named.every((id) => ids.has(id))).toBe(true)
  // The same when the log itself says so.
  const recovered = fold([
    ...cut,
    ...log(...Array.from({ length: 6 }, () => CREATED), [
      "tool.failed.1",
      { assistantMessageID: "m1", callID: "c1", error: { code: "interrupted", message: "x" } },
    ]).slice(6),
  ])
  expect(recovered.map(({ spanId }) => spanId)).toEqual([...sent, ...closed].map(({ spanId }) => spanId))
})

test("a compaction belongs to the work it interrupts, or is a separate trace", () => {
  const compaction = [
    ["compaction.started.1", { compactionID: "k", reason: "auto", model: "m", tokens: 9 }],
    [
      "compaction.ended.2",
      {
        compactionID: "k",
        reason: "auto",
        method: "model",
        summary: "SECRET",
        recent: "",
        range: { from: 1, through: 2 },
        kept: [],
        messages: 1,
        tokens: { before: 9, after: 2 },
        usage: USAGE,
        cost: 0.25,
        removedQuotes: [],
      },
    ],
  ] as const
  const inside = fold(log(CREATED, ADMITTED, PROMOTED, ...compaction, started("m1"), ended("m1")))
  expect(inside.map(({ name }) => name)).toEqual([
    "compaction",
    "chat anthropic/sonnet",
    "invoke_agent build",
  ])
  expect(inside[0]?.parentSpanId).toBe(inside[2]?.spanId)
  expect(inside[2]?.attributes).toMatchObject({ "meridian.cost_usd": 0.75 })
  const [alone] = fold(log(CREATED, ...compaction))
  expect(alone).toMatchObject({ name: "compaction", attributes: { "meridian.compaction.tokens_after": 2 } })
  expect(alone).not.toHaveProperty("parentSpanId")
})
