import { expect, test } from "vitest"

import { brokenRelations, TOOL_LIMITS } from "./limits.ts"

test("the limits fit each other", () => {
  expect(brokenRelations(TOOL_LIMITS)).toEqual([])
})

test("a limit that breaks a relation is named", () => {
  expect(brokenRelations({ ...TOOL_LIMITS, bashDefaultMs: TOOL_LIMITS.bashLongestMs + 1 })).toEqual([
    "the default timeout is within the longest",
  ])
})
