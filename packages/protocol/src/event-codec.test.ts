import * as fc from "fast-check"
import { expect, test } from "vitest"

import { arbitraryOf, damaged } from "../../../test/shape-arbitrary.ts"
import { decodeEvent, eventFrame } from "./event-codec.ts"
import { DURABLE_EVENTS } from "./session-event.ts"

const row = (type: string, data: unknown) => ({ seq: 12, time: 34, type, data: JSON.stringify(data) })
const unknown = (storedType: string, told: object) => ({
  seq: 12,
  time: 34,
  type: "unknown",
  data: { storedType, ...told },
})
const TYPES = Object.entries(DURABLE_EVENTS)

test("every event that can be written is read back as it was written", () => {
  for (const [type, shape] of TYPES)
    fc.assert(
      fc.property(arbitraryOf(shape), (data) => {
        const back: unknown = JSON.parse(JSON.stringify({ seq: 12, time: 34, type, data }))
        expect(decodeEvent(row(type, data))).toEqual(back)
      }),
      { numRuns: 50 },
    )
})

test("an event without one of its required fields is not believed, and the field is named", () => {
  const problems = TYPES.flatMap(([type, shape]) => {
    const [data = {}] = fc.sample(arbitraryOf<object>(shape), { numRuns: 1, seed: 1 })
    return Object.keys(data).flatMap((key) => {
      const without = Object.fromEntries(Object.entries(data).filter(([name]) => name !== key))
      const event = decodeEvent(row(type, without))
      return event.type === "unknown" ? [{ key, problem: event.data.problem }] : []
    })
  })
  expect(problems).toEqual(problems.map(({ key }) => ({ key, problem: `\`${key}\` is missing` })))
  expect(problems.length).toBeGreaterThan(70)
})

test.each([
  [
    "session.next.step.ended.2",
    {
      assistantMessageID: "m",
      finish: "stop",
      usage: { input: "1", output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
      cost: 0,
    },
    "`usage.input` must be a whole number of at least 0, not text",
  ],
  [
    "session.next.tool.success.1",
    { assistantMessageID: "m", callID: "c", content: [{ type: "text" }] },
    "`content.0.text` is missing",
  ],
  [
    "session.next.text.ended.1",
    { assistantMessageID: "", text: "" },
    '`assistantMessageID` must be an id of at most 200 letters, digits and _.:@/+-, not ""',
  ],
  ["session.next.text.ended.1", ["assistantMessageID", "text"], "The data must be an object, not a list"],
  ["session.next.text.ended.1", null, "The data must be an object, not null"],
  [
    "session.next.permission.replied.1",
    { requestID: "p", reply: "yes", parked: false },
    '`reply` must be one of once, always, session, reject, not "yes"',
  ],
  [
    "session.next.epoch.started.1",
    { baseline: "", snapshot: { git: { removal: "" } }, cause: "first" },
    "`snapshot.git.value` is missing",
  ],
])("of a damaged %s the problem is told", (type, data, problem) => {
  expect(decodeEvent(row(type, data))).toEqual(unknown(type, { reason: "unreadable", problem }))
})

test.each([
  ["session.next.dreamed.7", "{}", { reason: "unknown-type" }],
  ["constructor", "{}", { reason: "unknown-type" }],
  ["session.next.text.ended.1", '{"assistantMessageID":"m","text":', { reason: "unreadable" }],
  ["session.next.text.ended.1", "", { reason: "unreadable" }],
])("a row %s with %j is unknown", (type, data, told) => {
  expect(decodeEvent({ seq: 12, time: 34, type, data })).toEqual(unknown(type, told))
})

test("a field that a newer Meridian added is kept", () => {
  const data = { assistantMessageID: "m", text: "", tone: "calm" }
  expect(decodeEvent(row("session.next.text.ended.1", data))).toMatchObject({ data })
})

test("the frame of an event holds the JSON of the event, also of one that does not fit", () => {
  for (const [type, shape] of TYPES)
    fc.assert(
      fc.property(fc.oneof(arbitraryOf(shape), arbitraryOf(shape).chain(damaged)), (data) => {
        const [, json = ""] = /^id: 12\ndata: (.*)\n\n$/.exec(eventFrame(row(type, data))) ?? []
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(decodeEvent(row(type, data)))))
      }),
      { numRuns: 50 },
    )
})

test("no stored text breaks a line of the stream", () => {
  const data = '{\n"assistantMessageID":"m",\r\n"text":"a\\nb"}'
  expect(eventFrame({ seq: 1, time: 2, type: "session.next.text.ended.1", data })).toBe(
    'id: 1\ndata: {"seq":1,"time":2,"type":"session.next.text.ended.1","data":{"assistantMessageID":"m","text":"a\\nb"}}\n\n',
  )
})
