import * as fc from "fast-check"
import { expect, test } from "vitest"

import { openTextStream } from "./text-stream.ts"

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

test("text in pieces also leaves nothing a terminal obeys", () => {
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

test("a sequence cut in two is hidden, and the text after it is shown", () => {
  const stream = openTextStream()
  expect([stream.push("a\u001B[3"), stream.push("1mb\r"), stream.push("\nc"), stream.end()]).toEqual([
    "a",
    "b",
    "\nc",
    "",
  ])
})

test("an endless sequence is not held forever", () => {
  const stream = openTextStream()
  stream.push("\u001B]")
  const shown = stream.push("x".repeat(2000))
  expect(shown).toContain("xxx")
  expect(shown).not.toContain("\u001B")
})
