import type { SessionEvent } from "@meridian/engine"
import { messageId, permissionRequestId, type DurableEvent } from "@meridian/protocol"
import * as fc from "fast-check"
import { expect, test } from "vitest"

import { styleFor } from "./style.ts"
import { openView, type View } from "./view.ts"

const assistantMessageID = messageId("msg_a")
const WIDTH = 40

const open = (options: { readonly dumb?: boolean; readonly working?: boolean } = {}): View =>
  openView({
    style: styleFor({ NO_COLOR: "1", TERM: "xterm" }),
    isOwn: (id) => id === "msg_own",
    tellsBeginnings: options.dumb === true,
    isWorking: () => options.working === true,
  })

let seq = 0
const event = (stored: DurableEvent): SessionEvent => ({ ...stored, seq: (seq += 1), time: 0 })

const delta = (view: View, text: string): readonly string[] =>
  view.live({ type: "text.delta", data: { assistantMessageID, delta: text } }, WIDTH)

const textEnded = (view: View, text: string): readonly string[] =>
  view.event(event({ type: "session.next.text.ended.1", data: { assistantMessageID, text } }), WIDTH)

const called = (view: View, command: string): readonly string[] =>
  view.event(
    event({
      type: "session.next.tool.called.1",
      data: { assistantMessageID, callID: "call", tool: "bash", input: { command } },
    }),
    WIDTH,
  )

test("a streamed text is shown once, its last row while it is written", () => {
  const view = open()
  expect([delta(view, "Hello "), delta(view, "wor")]).toEqual([[], []])
  expect(view.going(WIDTH)).toEqual(["Hello wor"])
  delta(view, "ld")
  expect(textEnded(view, "Hello world")).toEqual(["Hello world"])
  expect(view.going(WIDTH)).toEqual([])
})

test("fragments that come after their text are not shown again", () => {
  const view = open()
  delta(view, "Hello ")
  expect(textEnded(view, "Hello world")).toEqual(["Hello world"])
  expect(delta(view, "world")).toEqual([])
  expect(view.going(WIDTH)).toEqual([])
  delta(view, "Next")
  expect(view.going(WIDTH)).toEqual(["Next"])
})

test("lost fragments are shown by the durable text", () => {
  const view = open()
  delta(view, "Hello ")
  view.live({ type: "dropped", data: { count: 3 } }, WIDTH)
  expect(delta(view, "ignored")).toEqual([])
  expect(textEnded(view, "Hello wide world")).toEqual(["Hello wide world"])
})

test("durable texts that come after all fragments show nothing twice", () => {
  const view = open()
  const reasoning = (delta_: string) =>
    view.live({ type: "reasoning.delta", data: { assistantMessageID, delta: delta_ } }, WIDTH)
  const rows = [
    reasoning("Let me "),
    reasoning("think."),
    delta(view, "First"),
    delta(view, " part."),
    view.event(
      event({ type: "session.next.reasoning.ended.1", data: { assistantMessageID, text: "Let me think." } }),
      WIDTH,
    ),
    textEnded(view, "First part."),
  ]
  expect(rows.flat()).toEqual(["Let me think.", "First part."])
})

test("two texts in a row are each shown once", () => {
  const view = open()
  const rows = [
    delta(view, "One.\n"),
    delta(view, "Two."),
    textEnded(view, "One.\n"),
    textEnded(view, "Two."),
  ]
  expect(rows.flat()).toEqual(["One.", "Two."])
})

test("in whatever order fragments and durable texts arrive, every word is shown once and in order", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ kind: fc.constantFrom("text", "reasoning"), words: fc.integer({ min: 1, max: 4 }) }),
        { minLength: 1, maxLength: 6 },
      ),
      fc.infiniteStream(fc.boolean()),
      (parts, coins) => {
        const view = open()
        let word = 0
        const texts = parts.map(({ kind, words }) => ({
          kind,
          pieces: Array.from({ length: words }, () => `w${(word += 1)}\n`),
        }))
        const fragments = texts.flatMap(({ kind, pieces }) =>
          pieces.map(
            (piece) => () =>
              view.live(
                kind === "text"
                  ? { type: "text.delta", data: { assistantMessageID, delta: piece } }
                  : { type: "reasoning.delta", data: { assistantMessageID, delta: piece } },
                WIDTH,
              ),
          ),
        )
        const ends = texts.map(
          ({ kind, pieces }) =>
            () =>
              view.event(
                event({
                  type: kind === "text" ? "session.next.text.ended.1" : "session.next.reasoning.ended.1",
                  data: { assistantMessageID, text: pieces.join("") },
                }),
                WIDTH,
              ),
        )
        const rows: string[] = []
        while (fragments.length + ends.length > 0) {
          const [coin] = coins.take(1)
          const next = (coin === true || ends.length === 0 ? fragments.shift() : undefined) ?? ends.shift()
          rows.push(...(next?.() ?? []))
        }
        expect(rows.filter((row) => row !== "")).toEqual(
          Array.from({ length: word }, (_, index) => `w${index + 1}`),
        )
      },
    ),
  )
})

test("a text that was not streamed here is shown whole", () => {
  expect(textEnded(open(), "From another process.\nTwo lines.")).toEqual([
    "From another process.",
    "Two lines.",
  ])
})

test("a call shows its state: running, waiting, done or failed", () => {
  const view = open()
  expect(called(view, "npm test")).toEqual([])
  expect(view.going(WIDTH)).toEqual(["… bash npm test"])
  view.event(
    event({
      type: "session.next.permission.asked.1",
      data: {
        requestID: permissionRequestId("per_1"),
        assistantMessageID,
        callID: "call",
        action: "bash",
        resources: ["npm test"],
        title: "Runs the tests",
        always: ["npm test"],
      },
    }),
    WIDTH,
  )
  expect(view.going(WIDTH)).toEqual(["? bash npm test (waits for your answer)"])
  expect(view.question()).toMatchObject({ id: "per_1", action: "bash", resources: ["npm test"] })
  view.event(
    event({
      type: "session.next.permission.replied.1",
      data: { requestID: permissionRequestId("per_1"), reply: "once", parked: false },
    }),
    WIDTH,
  )
  expect([view.question(), view.going(WIDTH)]).toEqual([undefined, ["… bash npm test"]])
  const content = Array.from({ length: 8 }, (_, index) => `line ${index}`).join("\n")
  expect(
    view.event(
      event({
        type: "session.next.tool.success.1",
        data: { assistantMessageID, callID: "call", content: [{ type: "text", text: content }] },
      }),
      WIDTH,
    ),
  ).toEqual(["✓ bash npm test", ...[0, 1, 2, 3, 4].map((index) => `  line ${index}`), "  … 3 lines more"])
  called(view, "false")
  expect(
    view.event(
      event({
        type: "session.next.tool.failed.1",
        data: {
          assistantMessageID,
          callID: "call",
          error: { code: "failed", message: "exit\u001B[2J code 1" },
        },
      }),
      WIDTH,
    ),
  ).toEqual(["✗ bash false: exit code 1"])
})

test("if no row can be redrawn, beginnings are shown too", () => {
  expect(called(open({ dumb: true }), "npm test")).toEqual(["… bash npm test"])
})

test("a title of several lines or with sequences in it stays one plain row", () => {
  const view = open()
  called(view, `printf '\u001B[2J'\n${"x".repeat(100)}`)
  const [row = ""] = view.going(WIDTH)
  expect(row).toMatch(/^… bash printf '' x+…$/)
  expect(row.length).toBe(WIDTH)
})

test("a failed turn is shown with what to do, and the reason it could not begin is shown once", () => {
  const view = open({ working: true })
  const failed = (error: { readonly code: string; readonly message: string }) =>
    view.event(event({ type: "session.next.step.failed.2", data: { assistantMessageID, error } }), 200)
  expect(failed({ code: "authentication", message: "invalid x-api-key" })).toEqual([
    "ERROR [MODEL_FAILED]: The model failed (authentication): invalid x-api-key. Next: fix the cause if it is on your side, then run the session again.",
  ])
  expect([view.takeError(), view.takeError()]).toEqual([true, false])
  expect(failed({ code: "INTERRUPTED", message: "The turn was interrupted." })).toEqual(["Interrupted."])
  const kept: DurableEvent = {
    type: "session.next.execution.failed.1",
    data: { error: { code: "TURN_LIMIT", message: "Too many turns." } },
  }
  expect([view.event(event(kept), WIDTH), open().event(event(kept), WIDTH)]).toEqual([
    [],
    ["ERROR [TURN_LIMIT]: Too many turns."],
  ])
})

test("own inputs are not shown again, and those from elsewhere are", () => {
  const admitted = (id: string): DurableEvent => ({
    type: "session.next.prompt.admitted.1",
    data: { messageID: messageId(id), prompt: { text: "hi" }, delivery: "steer", resume: true },
  })
  const view = open()
  expect([
    view.event(event(admitted("msg_own")), WIDTH),
    view.event(event(admitted("msg_x")), WIDTH),
  ]).toEqual([[], ["> hi (sent from elsewhere)"]])
})

test("an earlier input is shown once, when it is taken up", () => {
  const view = open()
  view.awaitInput({ id: "msg_old", text: "waited long" })
  const promoted: DurableEvent = {
    type: "session.next.prompt.promoted.1",
    data: { messageID: messageId("msg_old"), admittedSeq: 1 },
  }
  expect([view.event(event(promoted), WIDTH), view.event(event(promoted), WIDTH)]).toEqual([
    ["> waited long"],
    [],
  ])
})

test("a withheld answer, a failed try and a useless compaction are shown", () => {
  const usage = { input: 1, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 }
  const told = (stored: DurableEvent) => open().event(event(stored), 200)
  expect(
    told({
      type: "session.next.step.ended.2",
      data: { assistantMessageID, finish: "content-filter", usage, cost: 0 },
    }),
  ).toEqual(["The provider withheld the answer (content filter)."])
  expect(
    told({
      type: "session.next.retried.1",
      data: { assistantMessageID, attempt: 1, delayMs: 500, error: { code: "rate", message: "slow down" } },
    }),
  ).toEqual(["Attempt 1 failed (rate): slow down. Trying again in 0.5 s."])
  const compacted = (before: number, after: number): DurableEvent => ({
    type: "session.next.compaction.ended.2",
    data: {
      compactionID: "cmp_1",
      reason: "manual",
      method: "model",
      summary: "",
      recent: "",
      range: { from: 1, through: 2 },
      kept: [],
      messages: 1,
      removedQuotes: [],
      tokens: { before, after },
      usage,
      cost: 0,
    },
  })
  expect([told(compacted(2312, 1565)), told(compacted(1565, 2312))]).toEqual([
    ["Compacted: 2,312 -> 1,565 tokens."],
    ["Compacted: 1,565 -> 2,312 tokens. Nothing was gained."],
  ])
})

test("spending is added up until it is taken", () => {
  const view = open()
  const usage = { input: 10, output: 5, reasoning: 1, cacheRead: 3, cacheWrite: 2 }
  for (const cost of [0.5, 0.25])
    view.event(
      event({ type: "session.next.step.ended.2", data: { assistantMessageID, finish: "stop", usage, cost } }),
      WIDTH,
    )
  expect(view.takeSpent()).toMatchObject({
    spent: { input: 24, cached: 6, output: 12, cost: 0.75 },
    context: 21,
  })
  expect(view.takeSpent().spent.input).toBe(0)
})
