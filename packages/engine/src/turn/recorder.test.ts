import { messageId } from "@meridian/protocol"
import { expect, test } from "vitest"

import type { ModelEvent, ModelEvents } from "../port/model.ts"
import { createRecorder } from "./recorder.ts"

const call = (id: string): ModelEvent => ({
  type: "tool-call",
  id,
  name: "act",
  input: "{}",
  providerExecuted: false,
})
const finish: ModelEvent = {
  type: "finish",
  reason: "stop",
  usage: { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
}
const said = (id: string): readonly ModelEvent[] => [
  { type: "text-start", id },
  { type: "text-delta", id, delta: `said ${id}` },
  { type: "text-end", id },
]

/** The events of each list arrive together. */
const arriving = (...batches: readonly (readonly ModelEvent[])[]): ModelEvents => {
  const later = [...batches]
  let ready: ModelEvent[] = []
  return {
    next: async () => {
      if (ready.length === 0) ready = [...(later.shift() ?? [])]
      const value = ready.shift()
      return value === undefined ? { done: true, value } : { done: false, value }
    },
    ready: () => ready.shift(),
  }
}

const openRecorder = () =>
  createRecorder({ assistantMessageID: messageId("msg_1"), publish: () => undefined })
const typesOf = (recorder: ReturnType<typeof openRecorder>) => recorder.take().map(({ event }) => event.type)

test("what arrived together is noted together, and nothing that comes later", async () => {
  const recorder = openRecorder()
  const events = arriving([...said("a"), call("1"), call("2")], said("b"), [finish])
  await recorder.advance(events)
  expect(typesOf(recorder)).toEqual(["session.next.text.ended.1", "tool-call", "tool-call"])
  expect(recorder.finished()).toBe(false)
  await recorder.advance(events)
  expect(typesOf(recorder)).toEqual(["session.next.text.ended.1", "finish"])
  expect(recorder.finished()).toBe(true)
})

test("what breaks the rules behind a call is told when the call has been taken", async () => {
  const recorder = openRecorder()
  const events = arriving([call("1"), { type: "text-delta", id: "never", delta: "x" }])
  await recorder.advance(events)
  expect(typesOf(recorder)).toEqual(["tool-call"])
  await expect(recorder.advance(events)).rejects.toMatchObject({ facts: { kind: "invalid-output" } })
})

test("of what was not taken, the prose is left", async () => {
  const recorder = openRecorder()
  await recorder.advance(arriving([...said("a"), call("1"), ...said("b").slice(0, 2)]))
  expect(recorder.takePartial()).toMatchObject([
    { data: { text: "said a" } },
    { data: { text: "said b", partial: true } },
  ])
})

test("a stream that continues after its end is broken", async () => {
  const recorder = openRecorder()
  const events = arriving([finish], said("a"))
  await recorder.advance(events)
  await expect(recorder.advance(events)).rejects.toThrow("after the end")
})
