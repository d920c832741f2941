import { expect, test } from "vitest"

import { timeOf } from "./conversation.ts"

test.each([
  [0, 0],
  [253_402_300_799_999, 253_402_300_799_999],
  [253_402_300_800_000, undefined],
  [9e15, undefined],
  [1e300, undefined],
  [Number.NaN, undefined],
  [-1, undefined],
  ["2026-01-01T00:00:00Z", 1_767_225_600_000],
  ["+275760-09-13T00:00:00.000Z", undefined],
  ["garbage", undefined],
])("the time %s is read as %s", (written, time) => {
  expect(timeOf(written)).toBe(time)
})
