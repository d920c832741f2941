import { expect, test } from "vitest"

import { readChoice } from "./choose.ts"

test.each([
  ["", 0],
  [" 1 ", 0],
  ["3", 2],
  ["4", undefined],
  ["0", undefined],
  ["-1", undefined],
  ["1e0", undefined],
  ["no", undefined],
])("%j of three is %s", (answer, place) => {
  expect(readChoice(answer, 3)).toBe(place)
})
