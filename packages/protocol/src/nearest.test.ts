import { expect, test } from "vitest"

import { editDistance, nearest } from "./nearest.ts"

test.each([
  ["spwan", "spawn"],
  ["lst", "list"],
  ["strat", "start"],
  ["sp", "space"],
  ["STATR", "start"],
  ["frobnicate", undefined],
  ["", undefined],
])("%s means %s", (typed, meant) => {
  expect(nearest(typed, ["start", "space", "spawn", "list", "doctor"])).toBe(meant)
})

test("a very long word costs no more than its first part", () => {
  expect(nearest("x".repeat(1_000_000), ["start"])).toBeUndefined()
})

test("of very many candidates only the first 2,000 are compared", () => {
  const many = Array.from({ length: 2_000 }, (_, index) => `other-${index}`)
  expect(nearest("start", [...many.slice(1), "start"])).toBe("start")
  expect(nearest("start", [...many, "start"])).toBeUndefined()
})

test.each([
  ["", "", 0],
  ["abc", "", 3],
  ["abc", "abd", 1],
  ["abc", "acb", 1],
  ["kitten", "sitting", 3],
])("from %j to %j takes %i changes", (left, right, distance) => {
  expect(editDistance(left, right)).toBe(distance)
})
