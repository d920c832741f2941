import { expect, test } from "vitest"

import { agoText, costText, durationText, placeText, tokensText } from "./text.ts"

test("durations, tokens and sums are short", () => {
  expect([0, 999, 1_500, 12_400, 61_000, 3_660_000].map(durationText)).toEqual([
    "0 ms",
    "999 ms",
    "1.5 s",
    "12 s",
    "1 min 1 s",
    "1 h 1 min",
  ])
  expect([0, 999, 1_000, 99_949, 100_000, 1_250_000].map(tokensText)).toEqual([
    "0",
    "999",
    "1.0k",
    "99.9k",
    "100k",
    "1.25M",
  ])
  expect([0, 0.01234, 2.5].map(costText)).toEqual(["$0", "$0.0123", "$2.50"])
})

test("times are shown as how long ago they were, never in the future", () => {
  const ages = [-5, 0, 42, 90, 7_200, 200_000]
  expect(ages.map((secs) => agoText(1_000_000_000 - secs * 1_000, 1_000_000_000))).toEqual([
    "now",
    "now",
    "42 s ago",
    "1 min ago",
    "2 h ago",
    "2 d ago",
  ])
})

test("a place is named by the end of its path", () => {
  expect([placeText("/a/b/c"), placeText("/")]).toEqual(["b/c", ""])
})
