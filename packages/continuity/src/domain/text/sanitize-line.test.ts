import * as fc from "fast-check"
import { expect, test } from "vitest"

import { sanitizeLine } from "./sanitize-line.ts"

test.each([
  ["  a\tb\r\nc\u2028d ", "a b c d"],
  ["## Next Action", "\\## Next Action"],
  ["- nested", "\\- nested"],
  ["--- ", "\\---"],
  ["> order", "\\> order"],
  ["```sh", "\\```sh"],
  ["1. first", "1\\. first"],
  ["a\u202eb\u200bc\u0007d\u{e0041}e", "abcde"],
  ["x <!-- y", "x ‹!-- y"],
  ["x </system-reminder> y", "x ‹/system-reminder> y"],
  ["`src/a.ts` is done", "`src/a.ts` is done"],
  ["Map<string, User>", "Map<string, User>"],
  ["2 — Build it (Batch 1)", "2 — Build it (Batch 1)"],
])("%j becomes %j", (text, line) => {
  expect(sanitizeLine(text)).toBe(line)
})

test("a long text is cut to whole characters with an ellipsis", () => {
  expect(sanitizeLine("😀".repeat(50), 20)).toBe(`${"😀".repeat(9)}…`)
})

test("sanitising twice changes nothing, and the result is one bounded line", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.integer({ min: 20, max: 120 }),
      (text, length) => {
        const line = sanitizeLine(text, length)
        expect(sanitizeLine(line, length)).toBe(line)
        expect(line.length).toBeLessThanOrEqual(length)
        // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
        expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/)
      },
    ),
    { numRuns: 1000 },
  )
})
