import * as fc from "fast-check"
import { expect, test } from "vitest"

import { createFrameReader } from "./read-frames.ts"

const TEXT =
  'retry: 1000\n\n: heartbeat\n\nid: 7\ndata: {"a":1}\n\nevent: synced\r\ndata: x\r\ndata:y\r\n\r\n'
const FRAMES = [
  { id: "7", name: "message", data: '{"a":1}' },
  { id: undefined, name: "synced", data: "x\ny" },
]

test("frames are the same however the stream is broken into pieces", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(TEXT.length), { maxLength: 20 }), (cuts) => {
      const reader = createFrameReader()
      const edges = [0, ...cuts.toSorted((left, right) => left - right), TEXT.length]
      const frames = edges.slice(1).flatMap((end, place) => reader.push(TEXT.slice(edges[place], end)))
      expect(frames).toEqual(FRAMES)
    }),
  )
})

test("what has not ended is no frame yet", () => {
  expect(createFrameReader().push("data: x\n")).toEqual([])
})

test("a frame without an end is refused at the bound", () => {
  expect(createFrameReader(10).push("data: 1234")).toEqual([])
  expect(() => createFrameReader(10).push("data: 12345")).toThrow(RangeError)
})
