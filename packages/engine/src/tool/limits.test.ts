import { expect, test } from "vitest"

import { assertLimits, TOOL_LIMITS } from "./limits.ts"

test("the limits fit each other, and one that breaks a relation is named", () => {
  expect(() => assertLimits(TOOL_LIMITS)).not.toThrow()
  expect(() => assertLimits({ ...TOOL_LIMITS, bashDefaultMs: TOOL_LIMITS.bashLongestMs + 1 })).toThrow(
    "the default timeout is within the longest",
  )
})
