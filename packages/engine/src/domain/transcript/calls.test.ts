import { expect, test } from "vitest"

import { EVENTS, logged } from "../../../../../test/event-log.ts"
import { findCall, foldCalls, hasAnsweredCall, NO_CALLS, parkedCalls } from "./calls.ts"

const { called, succeeded, toolFailed, resumed, asked, replied } = EVENTS

const callsOf = (...events: Parameters<typeof logged>[0]) => foldCalls(NO_CALLS, logged(events))
const call = (callID: string, restartable = false) => ({
  messageID: "s",
  callID,
  tool: "act",
  input: {},
  hosted: false,
  restartable,
})

test("a call is open from its record to its outcome, whatever that is", () => {
  const calls = callsOf(
    called("s", "1"),
    called("s", "2"),
    called("s", "3"),
    succeeded("s", "1"),
    toolFailed("s", "3"),
  )
  expect(calls).toEqual({ open: [call("2")], requests: new Map(), questions: new Map(), allowed: [] })
})

test("the same id in two turns names two calls", () => {
  const calls = callsOf(called("s", "1"), called("t", "1"), succeeded("s", "1"))
  expect(calls.open.map(({ messageID }) => messageID)).toEqual(["t"])
})

test("an outcome without an open call changes nothing", () => {
  const calls = callsOf(called("s", "1"))
  expect(foldCalls(calls, logged([succeeded("s", "2")], 1))).toBe(calls)
})

test("a call that only asked can be restarted; one that was answered while it waited cannot", () => {
  const asking = callsOf(called("s", "1"), asked("s", "1", "q"))
  expect(parkedCalls(asking)).toEqual([call("1", true)])
  expect(hasAnsweredCall(asking)).toBe(false)
  const heard = foldCalls(asking, logged([replied("q", false)], 2))
  expect([parkedCalls(heard), hasAnsweredCall(heard)]).toEqual([[], false])
  const unheard = foldCalls(asking, logged([replied("q", true)], 2))
  expect([parkedCalls(unheard), hasAnsweredCall(unheard)]).toEqual([[call("1", true)], true])
})

test("a restarted call acts from then on, unless its question is still open", () => {
  const open = callsOf(called("s", "1"), asked("s", "1", "q"), resumed("s", "1"))
  expect(findCall(open, { messageID: "s", callID: "1" })?.restartable).toBe(true)
  const answered = foldCalls(open, logged([replied("q", true), resumed("s", "1")], 3))
  expect(findCall(answered, { messageID: "s", callID: "1" })?.restartable).toBe(false)
})

test("a settled call ends its own questions, and no others", () => {
  const calls = callsOf(
    called("s", "1"),
    called("s", "2"),
    asked("s", "1", "q"),
    asked("s", "2", "r"),
    toolFailed("s", "1"),
  )
  expect([...calls.requests.keys()]).toEqual(["r"])
})

test("a hosted call is never parked: the provider runs it", () => {
  expect(parkedCalls(callsOf(called("s", "1", { hosted: true }), asked("s", "1", "q")))).toEqual([])
})
