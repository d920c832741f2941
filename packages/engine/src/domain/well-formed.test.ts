import * as fc from "fast-check"
import { expect, test } from "vitest"

import { wellFormed } from "./well-formed.ts"

const HALF = "a\ud83d"

test("halves of characters become one sign, wherever they stand; the rest stays", () => {
  const value = { text: HALF, list: [1, null, { [HALF]: "\udc00b" }], whole: "😀" }
  expect(wellFormed(value)).toEqual({
    text: "a\ufffd",
    list: [1, null, { "a\ufffd": "\ufffdb" }],
    whole: "😀",
  })
})

test("a well-formed value stays the same object", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(wellFormed(value)).toBe(value)
    }),
  )
})
