import { ledgerFacts } from "@meridian/continuity/ledger"
import { messageId, type DurableEvent } from "@meridian/protocol"
import { expect, test } from "vitest"

import { EVENTS, logged } from "../../../../../test/event-log.ts"
import type { LoggedEvent } from "../logged-event.ts"
import { foldLedger, ledgerState, NO_LEDGER, workingSet, type Ledger } from "./ledger.ts"

const { text, succeeded } = EVENTS
const fold = (before: Ledger, events: readonly LoggedEvent[]): Ledger =>
  foldLedger(before, events, () => ({ text: "of the inbox" }))
const factsOf = (...events: readonly DurableEvent[]) =>
  ledgerFacts(ledgerState(fold(NO_LEDGER, logged(events)))).map(
    ({ kind, text: words }) => `${kind}: ${words}`,
  )
const prompted = (words: string): DurableEvent => ({
  type: "session.next.prompted.1",
  data: { messageID: messageId("a"), prompt: { text: words } },
})
const calledWith = (tool: string, input: object, callID = "1"): DurableEvent => ({
  type: "session.next.tool.called.1",
  data: { assistantMessageID: messageId("s"), callID, tool, input: { ...input } },
})

test("the first thing a person said is the task, and the newest is kept beside it", () => {
  expect(factsOf(prompted("port the\n exporter"), prompted("and test it"))).toEqual([
    "task: port the\n exporter",
    "request: and test it",
  ])
  expect(factsOf(prompted("hello"), text("s", "Goal: port it"))).toEqual(["objective: port it"])
})

test("a prompt counts when it is promoted, in the words it was admitted with", () => {
  const messageID = messageId("a")
  const admitted = (words: string): DurableEvent => ({
    type: "session.next.prompt.admitted.1",
    data: { messageID, prompt: { text: words }, delivery: "queue", resume: true },
  })
  expect(factsOf(admitted("of the inbox"))).toEqual([])
  expect(
    factsOf(admitted("of the inbox"), {
      type: "session.next.prompt.promoted.1",
      data: { messageID, admittedSeq: 1 },
    }),
  ).toEqual(["task: of the inbox"])
})

test("decisions are kept until they are withdrawn in the same words", () => {
  expect(
    factsOf(
      prompted("Objective: x"),
      text("s", "- **Decision**: keep v1\nDecision: use SQLite"),
      text("s", "Decision (withdrawn): Keep V1"),
    ),
  ).toEqual(["task: Objective: x", "objective: x", "decision: use SQLite"])
})

test("an unknown tool declares what its calls do, and its files count", () => {
  const calls = (["edit", "fetch", undefined] as const).map((kind, at): DurableEvent => {
    const input = { path: `${kind ?? "none"}.ts` }
    const data = { assistantMessageID: messageId("s"), callID: `${at}`, tool: "rename_symbol", input }
    return { type: "session.next.tool.called.1", data: kind === undefined ? data : { ...data, kind } }
  })
  expect(workingSet(fold(NO_LEDGER, logged(calls)))).toEqual(["edit.ts"])
})

test("files come in the order in which they were last touched", () => {
  const ledger = fold(
    NO_LEDGER,
    logged([
      calledWith("read", { path: "a.ts" }),
      calledWith("apply_patch", { patch: "*** Update File: b.ts\n" }, "2"),
      calledWith("edit", { filePath: "a.ts" }, "3"),
      calledWith("bash", { command: "cat c.ts" }, "4"),
    ]),
  )
  expect(workingSet(ledger)).toEqual(["b.ts", "a.ts", "c.ts"])
})

test("a run is known by the id its command printed", () => {
  expect(
    factsOf(
      prompted("Objective: x"),
      calledWith("bash", { command: "meridian run spawn -p hi" }),
      succeeded("s", "1", "started r7"),
      calledWith("bash", { command: "echo r9" }, "2"),
      succeeded("s", "2", "r9"),
    ),
  ).toEqual(["task: Objective: x", "objective: x", "run: r7 (meridian run spawn -p hi)"])
})

test("folding batch by batch equals folding at once, and changes no value that is still held", () => {
  const events = logged([
    prompted("Objective: x"),
    calledWith("read", { path: "a.ts" }),
    succeeded("s", "1"),
    text("s", "Blocker: no key"),
    { type: "session.next.todo.updated.1", data: { items: [{ content: "test", status: "in_progress" }] } },
  ])
  const first = fold(NO_LEDGER, events.slice(0, 2))
  const known = ledgerFacts(ledgerState(first))
  const rest = fold(first, events.slice(2))
  expect(ledgerState(rest)).toEqual(ledgerState(fold(NO_LEDGER, events)))
  expect(ledgerFacts(ledgerState(first))).toEqual(known)
})

test("a ledger that nobody asked for reads everything said before, however long it is", () => {
  const events = logged([
    prompted("Objective: x"),
    ...Array.from({ length: 20_000 }, () => text("s", "on it")),
  ])
  const ledger = events.reduce((before, event) => fold(before, [event]), NO_LEDGER)
  expect(ledgerState(ledger)).toEqual(ledgerState(fold(NO_LEDGER, events)))
})

test("a ledger keeps no text from before a compaction", () => {
  const ledger = fold(NO_LEDGER, logged([prompted("Objective: x"), EVENTS.compacted("c", [], 1)]))
  expect(ledger.known).toEqual(ledgerState(ledger))
})
