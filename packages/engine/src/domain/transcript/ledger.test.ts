import { messageId, type DurableEvent } from "@meridian/protocol"
import { expect, test } from "vitest"

import { EVENTS, logged } from "../../../../../test/event-log.ts"
import { EMPTY_LEDGER, foldLedger, ledgerFacts, workingSet } from "./ledger.ts"

const { text, succeeded } = EVENTS
const factsOf = (...events: readonly DurableEvent[]) =>
  ledgerFacts(foldLedger(EMPTY_LEDGER, logged(events))).map(({ kind, text: words }) => `${kind}: ${words}`)
const prompted = (words: string): DurableEvent => ({
  type: "session.next.prompted.1",
  data: { messageID: messageId("a"), prompt: { text: words } },
})
const calledWith = (tool: string, input: object, callID = "1"): DurableEvent => ({
  type: "session.next.tool.called.1",
  data: { assistantMessageID: messageId("s"), callID, tool, input: { ...input } },
})

test("without a declared one, the first thing a person said is the objective", () => {
  expect(factsOf(prompted("port the\n exporter"), prompted("and test it"))).toEqual([
    "objective: port the exporter",
  ])
  expect(factsOf(prompted("hello"), text("s", "Goal: port it"))).toEqual(["objective: port it"])
})

test("decisions are kept until they are withdrawn in the same words", () => {
  expect(
    factsOf(
      prompted("Objective: x"),
      text("s", "- **Decision**: keep v1\nDecision: use SQLite"),
      text("s", "Decision (withdrawn): Keep V1"),
    ),
  ).toEqual(["objective: x", "decision: use SQLite"])
})

test("files come in the order in which they were last touched", () => {
  const ledger = foldLedger(
    EMPTY_LEDGER,
    logged([
      calledWith("read", { path: "a.ts" }),
      calledWith("apply_patch", { patch: "*** Update File: b.ts\n" }, "2"),
      calledWith("edit", { filePath: "a.ts" }, "3"),
      calledWith("bash", { command: "cat c.ts" }, "4"),
    ]),
  )
  expect(workingSet(ledger)).toEqual(["b.ts", "a.ts"])
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
  ).toEqual(["objective: x", "run: r7 (meridian run spawn -p hi)"])
})

test("folding batch by batch is folding at once, and changes no value that somebody holds", () => {
  const events = logged([
    prompted("Objective: x"),
    calledWith("read", { path: "a.ts" }),
    succeeded("s", "1"),
    text("s", "Blocker: no key"),
    { type: "session.next.todo.updated.1", data: { items: [{ content: "test", status: "in_progress" }] } },
  ])
  const first = foldLedger(EMPTY_LEDGER, events.slice(0, 2))
  const known = ledgerFacts(first)
  const rest = foldLedger(first, events.slice(2))
  expect(rest).toEqual(foldLedger(EMPTY_LEDGER, events))
  expect(ledgerFacts(first)).toEqual(known)
})
