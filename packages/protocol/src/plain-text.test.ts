import * as fc from "fast-check"
import { expect, test } from "vitest"

import { oneLine, plainJson, plainText } from "./plain-text.ts"

test.each([
  ["usual text, in any writing, stays as it is", "a\tb\nc ä 日本 שלום 👩‍👩‍👧", "a\tb\nc ä 日本 שלום 👩‍👩‍👧"],
  ["colours of a terminal are gone", "\u001b[1;31mred\u001b[0m \u001b[2K\u001b]0;title\u0007x", "red x"],
  ["the 8-bit forms are gone too", "\u009b31mred\u009d0;title\u009cx", "redx"],
  ["a link of a terminal leaves its words", "\u001b]8;;http://e\u001b\\here\u001b]8;;\u001b\\", "here"],
  ["a string that never ends leaves its text", "a\u001b]0;title", "a0;title"],
  ["an escape alone is shown", "a\u001b", "a␛"],
  ["lines end as lines, however they end", "a\r\nb\rc", "a\nb\nc"],
  ["controls are shown", "a\u0000b\u0008c\u007f", "a␀b␈c⟨U+007F⟩"],
  ["marks that turn the writing are shown", "rm \u202e gpj.exe\u2066", "rm ⟨U+202E⟩ gpj.exe⟨U+2066⟩"],
  ["half a character is shown", "a\ud83d", "a⟨U+D83D⟩"],
])("%s", (_name, text, shown) => {
  expect(plainText(text)).toBe(shown)
})

test.each([
  ["  first \r\n\t second\n", 80, "first second"],
  ["\u001b[31mred\u001b[0m", 80, "red"],
  ["abcdef", 6, "abcdef"],
  ["abcdefg", 6, "abcde…"],
  ["abcd😀fg", 6, "abcd…"],
  [" ".repeat(1_000) + "late", 6, "…"],
])("in one line %j of at most %i is %j", (text, most, line) => {
  expect(oneLine(text, most)).toBe(line)
})

const PIECES =
  "\u001b [ ] 0; 31 m \u0007 \\ \r \n \u009b \u009d H \u001b[2J \ud83d \ude00 \u202e \u0000".split(" ")

const hostile = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: "grapheme" })), { maxLength: 30 })
  .map((parts) => parts.join(""))

test("nothing a terminal obeys is left, whatever comes in", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(plainText(text)).not.toMatch(/(?![\t\n])\p{Cc}|\p{Cs}|[\u202a-\u202e\u2066-\u2069]/u)
      expect(oneLine(text, 20)).not.toMatch(/\p{Cc}|\p{Cs}/u)
      expect(oneLine(text, 20).length).toBeLessThanOrEqual(20)
    }),
  )
})

test("JSON with escapes is the same JSON, and nothing a terminal obeys is left in it", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const json = plainJson(JSON.stringify({ text }))
      expect(json).not.toMatch(/\p{Cc}|\p{Cs}/u)
      // oxlint-disable-next-line eslint/no-restricted-properties -- the parser is what is asked
      expect(JSON.parse(json)).toEqual({ text })
    }),
  )
})

test.each(["\u0090", "\u001b]", "\u009b", "\u001b["])(
  "strings that begin again and again and never end (%j) are walked once",
  (start) => {
    expect(plainText(start.repeat(200_000))).not.toMatch(/(?!\n)\p{Cc}/u)
  },
)
