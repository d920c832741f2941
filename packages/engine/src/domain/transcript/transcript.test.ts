import { expect, test } from "vitest"

import { EVENTS, logged } from "../../../../../test/event-log.ts"
import { ledgerState } from "./ledger.ts"
import {
  emptyTranscript,
  foldTranscript,
  hasBaseline,
  hasUnfinishedWork,
  openStepOf,
  type Transcript,
} from "./transcript.ts"

const { created, admitted, promoted, started, ended, text, called, toolFailed, compacted, baseline } = EVENTS
const whole = [
  created(),
  baseline("first"),
  admitted("a"),
  promoted("a", 3),
  started("s"),
  text("s", "Decision: x"),
  called("s", "1"),
  toolFailed("s", "1"),
  ended("s"),
  { type: "session.next.interrupt.requested.1", data: {} },
  compacted("c", [], 9),
  admitted("b", { delivery: "queue" }),
] as const
const transcriptOf = (...events: Parameters<typeof logged>[0]) =>
  foldTranscript(emptyTranscript(), logged(events))

/** `revision` depends on where the log was cut. Ledgers are compared by their state. */
const comparable = ({ conversation, ledger, ...rest }: Transcript) => ({
  ...rest,
  conversation: { ...conversation, revision: 0 },
  ledger: ledgerState(ledger),
})

test("however a log is cut into pages, it folds to the same transcript", () => {
  const expected = transcriptOf(...whole)
  const events = logged(whole)
  for (let size = 1; size < events.length; size += 1) {
    let folded = emptyTranscript()
    for (let start = 0; start < events.length; start += size)
      folded = foldTranscript(folded, events.slice(start, start + size))
    expect(comparable(folded)).toEqual(comparable(expected))
  }
})

test("a gap in the sequence is a bug, not a transcript", () => {
  expect(() => foldTranscript(transcriptOf(created()), logged([admitted("a")], 2))).toThrow("follows")
})

test("an input may be admitted and promoted in one batch", () => {
  const { inbox, conversation } = transcriptOf(created(), admitted("a"), promoted("a", 2))
  expect([inbox.length, conversation.userTexts]).toEqual([0, ["say a"]])
})

test("choices are the newest ones", () => {
  const folded = transcriptOf(
    created(),
    { type: "session.next.agent.switched.1", data: { agent: "plan" } },
    { type: "session.next.model.switched.1", data: { model: "two" } },
    { type: "session.next.moved.1", data: { location: { directory: "/other" } } },
  )
  expect(folded.choices).toEqual({ location: { directory: "/other" }, agent: "plan", model: "two", todo: [] })
})

test("the open step is the one that neither ended nor failed", () => {
  expect(openStepOf(transcriptOf(created(), started("s")))).toMatchObject({ id: "s", parts: [] })
  expect(openStepOf(transcriptOf(created(), started("s"), ended("s")))).toBeUndefined()
})

test("a compaction makes the baseline old, a fresh one makes it true again", () => {
  expect(hasBaseline(transcriptOf(created()))).toBe(false)
  expect(hasBaseline(transcriptOf(created(), baseline("x")))).toBe(true)
  expect(hasBaseline(transcriptOf(created(), baseline("x"), compacted("c", [], 1)))).toBe(false)
  expect(hasBaseline(transcriptOf(created(), compacted("c", [], 1), baseline("x")))).toBe(true)
})

test("work is unfinished when a prompt has no answer, or the model has results to see", () => {
  const turn = [created(), admitted("a"), promoted("a", 2), started("s")] as const
  expect(hasUnfinishedWork(transcriptOf(created()))).toBe(false)
  expect(hasUnfinishedWork(transcriptOf(...turn.slice(0, 3)))).toBe(true)
  expect(hasUnfinishedWork(transcriptOf(...turn, text("s", "done"), ended("s")))).toBe(false)
  expect(hasUnfinishedWork(transcriptOf(...turn, called("s", "1"), ended("s"), toolFailed("s", "1")))).toBe(
    true,
  )
  expect(hasUnfinishedWork(transcriptOf(...turn, called("s", "1"), EVENTS.failed("s")))).toBe(false)
})
