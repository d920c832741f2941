import { messageId, type RecordedError } from "@meridian/protocol"
import { expect, test } from "vitest"

import type { LoggedEvent } from "../logged-event.ts"
import { foldParking, isParked } from "./parking.ts"

const error: RecordedError = { code: "rate", message: "limit" }
const assistantMessageID = messageId("msg_1")
const parked = (seq: number, count = 1): LoggedEvent => ({
  seq,
  time: 0,
  type: "session.next.parked.1",
  data: { assistantMessageID, reason: "limit", until: 100, since: 10, count, error },
})
const started: LoggedEvent = {
  seq: 8,
  time: 0,
  type: "session.next.step.started.1",
  data: { assistantMessageID, agent: "build", model: "m" },
}
const ended: LoggedEvent = {
  seq: 9,
  time: 0,
  type: "session.next.step.ended.2",
  data: {
    assistantMessageID,
    finish: "stop",
    usage: { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
    cost: 0,
  },
}

test("it waits until its time, or until a step starts", () => {
  const waiting = foldParking(undefined, [parked(3)])
  expect(waiting).toEqual({ seq: 3, until: 100, since: 10, count: 1, waits: true })
  expect([isParked(waiting, 99), isParked(waiting, 100)]).toEqual([true, false])
  const going = foldParking(waiting, [started])
  expect([going?.waits, isParked(going, 50)]).toEqual([false, false])
})

test("a step that does not end well keeps the count; one that does forgets it", () => {
  const again = foldParking(undefined, [parked(3), started, parked(9, 2)])
  expect(again).toMatchObject({ seq: 9, count: 2, waits: true })
  expect(foldParking(again, [started, ended])).toBeUndefined()
})

test("an interrupt, and work that cannot begin, end the waiting", () => {
  for (const type of ["session.next.interrupt.requested.1", "session.next.execution.failed.1"] as const) {
    const event: LoggedEvent =
      type === "session.next.interrupt.requested.1"
        ? { seq: 4, time: 0, type, data: {} }
        : { seq: 4, time: 0, type, data: { error } }
    expect(foldParking(undefined, [parked(3), event])).toBeUndefined()
  }
})
