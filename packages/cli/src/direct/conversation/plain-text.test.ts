import * as fc from "fast-check"
import { expect, test } from "vitest"

import { openTextStream, plainLine, plainText } from "./plain-text.ts"

test.each([
  ["\u001B[31mred\u001B[0m", "red"],
  ["\u001B]0;title\u0007text", "text"],
  ["\u001B]8;;http://example.org\u001B\\link\u001B]8;;\u001B\\", "link"],
  ["a\u001Bcb", "ab"],
  ["a\u001B", "a␛"],
  ["bell\u0007, back\u0008, null\u0000", "bell␇, back␈, null␀"],
  ["delete\u007F and next line\u0085", "delete␡ and next line�"],
  ["one\r\ntwo\rthree", "one\ntwo\nthree"],
  ["a\tb", "a    b"],
  ["safe\u202Eevil", "safe�evil"],
  ["half \uD83D", "half �"],
  ["häuser 家 👩‍👩‍👧 e\u0301", "häuser 家 👩‍👩‍👧 e\u0301"],
])("%j is shown as %j", (text, shown) => {
  expect(plainText(text)).toBe(shown)
})

test("one line of several", () => {
  expect(plainLine("  first \r\n\t second\n")).toBe("first second")
})

/** Escape, control characters and their parts, so that random texts come close to real sequences. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "\u001B",
        "[",
        "]",
        "0;",
        "31",
        "m",
        "\u0007",
        "\\",
        "\r",
        "\n",
        "\u009B",
        "H",
        "\u001B[2J",
      ),
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("\uD83D", "\uDE00", "\u202E", "\u0000"),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""))

test("nothing a terminal obeys is left, whatever comes in", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(plainText(text)).not.toMatch(/(?!\n)\p{Cc}/u)
    }),
  )
})

test("in pieces nothing a terminal obeys is left either", () => {
  fc.assert(
    fc.property(hostile, fc.array(fc.nat(5), { minLength: 1 }), (text, sizes) => {
      const stream = openTextStream()
      let shown = ""
      for (let at = 0, turn = 0; at < text.length; turn += 1) {
        const size = (sizes[turn % sizes.length] ?? 0) + 1
        shown += stream.push(text.slice(at, at + size))
        at += size
      }
      shown += stream.end()
      expect(shown).not.toMatch(/(?!\n)\p{Cc}/u)
    }),
  )
})

test("a sequence cut in two is not seen, and text behind it is", () => {
  const stream = openTextStream()
  expect([stream.push("a\u001B[3"), stream.push("1mb\r"), stream.push("\nc"), stream.end()]).toEqual([
    "a",
    "b",
    "\nc",
    "",
  ])
})

test("what never ends is not held for ever", () => {
  const stream = openTextStream()
  stream.push("\u001B]")
  const shown = stream.push("x".repeat(2000))
  expect(shown).toContain("xxx")
  expect(shown).not.toContain("\u001B")
})
