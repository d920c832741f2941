import { expect, test } from "vitest"

import { type Line, lineSplitter } from "./line-splitter.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const whole = (text: string): Line => ({ kind: "whole", text })

test("lines split at newlines wherever the chunks end, even inside a character", () => {
  const splitter = lineSplitter({ lineBytes: 100, cutBytes: 10 })
  const text = bytes("één\r\nzwei\n\ndrei")
  const lines = [...text].flatMap((byte) => splitter.feed(Uint8Array.of(byte)))
  expect([...lines, ...splitter.end()]).toEqual([whole("één"), whole("zwei"), whole(""), whole("drei")])
})

test("a line at the bound is whole, one byte more is cut to its beginning", () => {
  const splitter = lineSplitter({ lineBytes: 20, cutBytes: 5 })
  expect(splitter.feed(bytes(`${"a".repeat(20)}\n${"b".repeat(21)}\nok\n`))).toEqual([
    whole("a".repeat(20)),
    { kind: "cut", start: "bbbbb", bytes: 21 },
    whole("ok"),
  ])
})

test("of a long line only the beginning is kept, up to the bound", () => {
  const splitter = lineSplitter({ lineBytes: 20, cutBytes: 5 })
  const lines = ["abcdefgh", "ijklmnop", "qrstuvwx", "yz"].flatMap((part) => splitter.feed(bytes(part)))
  expect([...lines, ...splitter.end()]).toEqual([{ kind: "cut", start: "abcde", bytes: 26 }])
})

test("the owner of a chunk may reuse it once it was fed", () => {
  const splitter = lineSplitter({ lineBytes: 20, cutBytes: 5 })
  const chunk = bytes("first")
  splitter.feed(chunk)
  chunk.fill(0x78)
  expect(splitter.feed(bytes("\n"))).toEqual([whole("first")])
})
