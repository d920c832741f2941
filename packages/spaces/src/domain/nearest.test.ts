import { expect, test } from "vitest"

import { nearest } from "./nearest.ts"

test.each([
  ["spwan", "spawn"],
  ["lst", "list"],
  ["strat", "start"],
  ["sp", "space"],
  ["frobnicate", undefined],
  ["", undefined],
])("%s means %s", (typed, meant) => {
  expect(nearest(typed, ["start", "space", "spawn", "list", "doctor"])).toBe(meant)
})

test("a very long word costs no more than its first part", () => {
  expect(nearest("x".repeat(1_000_000), ["start"])).toBeUndefined()
})
