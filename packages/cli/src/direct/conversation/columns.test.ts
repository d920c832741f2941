import * as fc from "fast-check"
import { expect, test } from "vitest"

import { cutTo, graphemesOf, widthOf, wrapLine, wrapText } from "./columns.ts"
import { openFlow } from "./flow.ts"

test.each([
  ["abc", 3],
  ["家", 2],
  ["e\u0301", 1],
  ["👩‍👩‍👧", 2],
  ["", 0],
])("%s is %i columns wide", (text, width) => {
  expect(widthOf(text)).toBe(width)
})

test("text that is too long ends in an ellipsis, and no character is cut", () => {
  expect([cutTo("abcdef", 4), cutTo("家家家", 4), cutTo("abc", 3), cutTo("abc", 0)]).toEqual([
    "abc…",
    "家…",
    "abc",
    "",
  ])
})

test("text breaks between words, long words break anywhere, indentation stays", () => {
  expect(wrapLine("one two three", 8)).toEqual(["one two", "three"])
  expect(wrapLine("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"])
  expect(wrapLine("    code here", 20)).toEqual(["    code here"])
  expect(wrapText("a\n\nb", 10)).toEqual(["a", "", "b"])
})

const text = fc
  .array(
    fc.oneof(
      fc.constantFrom("word", " ", "家", "👩‍👩‍👧", "\n", "longerword"),
      fc.string({ unit: "grapheme-ascii" }),
    ),
  )
  .map((parts) => parts.join(""))

test("no row is wider than the terminal, and no word is lost", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 30 }), (whole, width) => {
      const rows = wrapText(whole, width)
      for (const row of rows) expect(widthOf(row)).toBeLessThanOrEqual(width)
      expect(rows.join("").replaceAll(/\s/g, "")).toBe(whole.replaceAll(/\s/g, ""))
    }),
  )
})

test("text that arrives in pieces gives the same rows as the whole", () => {
  fc.assert(
    fc.property(
      text,
      fc.integer({ min: 2, max: 30 }),
      fc.integer({ min: 1, max: 5 }),
      (whole, width, size) => {
        const flow = openFlow()
        const pieces = graphemesOf(whole)
        const rows: string[] = []
        for (let at = 0; at < pieces.length; at += size)
          rows.push(...flow.push(pieces.slice(at, at + size).join(""), width))
        rows.push(...flow.end())
        for (const row of rows) expect(widthOf(row)).toBeLessThanOrEqual(width)
        expect(rows.join("").replaceAll(/\s/g, "")).toBe(whole.replaceAll(/\s/g, ""))
      },
    ),
  )
})
