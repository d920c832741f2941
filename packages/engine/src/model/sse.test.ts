import { expect, test } from "vitest"

import { openSseReader } from "./sse.ts"

const read = (pieces: readonly string[], limit?: number): readonly string[] => {
  const seen: string[] = []
  const reader = openSseReader((data) => seen.push(data), limit)
  for (const piece of pieces) reader.push(piece)
  reader.end()
  return seen
}

test.each([
  ["one event", ["data: a\n\n"], ["a"]],
  ["two events in one piece", ["data: a\n\ndata: b\n\n"], ["a", "b"]],
  ["no space after the colon", ["data:a\n\n"], ["a"]],
  ["only the first space is dropped", ["data:  a\n\n"], [" a"]],
  ["CRLF", ["data: a\r\n\r\ndata: b\r\n\r\n"], ["a", "b"]],
  ["several lines of data", ["data: a\ndata: b\n\n"], ["a\nb"]],
  ["comments and other fields", [": busy\n\nevent: x\nid: 1\nretry: 5\ndata: a\n\n"], ["a"]],
  ["a field that only begins like data", ["database: x\n\ndata: a\n\n"], ["a"]],
  ["empty data", ["data:\n\ndata\n\n"], ["", ""]],
  ["an end without the empty line", ["data: a"], ["a"]],
  ["nothing", [""], []],
])("%s", (_name, pieces, expected) => {
  expect(read(pieces)).toEqual(expected)
})

test("the same events come out wherever the text is cut", () => {
  const text = 'event: m\r\ndata: {"a":1}\r\n\r\n: note\ndata: b\ndata: c\n\ndata: [DONE]\n\n'
  const whole = read([text])
  expect(whole).toEqual(['{"a":1}', "b\nc", "[DONE]"])
  for (let cut = 1; cut < text.length; cut++)
    expect(read([text.slice(0, cut), text.slice(cut)])).toEqual(whole)
  expect(read(text.split(""))).toEqual(whole)
})

test("an event may be as long as the bound and no longer", () => {
  expect(read(["data: 1234", "\n\n"], 10)).toEqual(["1234"])
  expect(() => read(["data: 12345", "\n\n"], 10)).toThrow("too long")
  expect(() => read(["data: 12345\n", "data: 67890\n", "data: 1"], 10)).toThrow("too long")
})
