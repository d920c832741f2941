import { expect, test } from "vitest"

import { costOf } from "./cost.ts"

const USAGE = { input: 1_000_000, output: 100_000, reasoning: 50_000, cacheRead: 200_000, cacheWrite: 10_000 }

test("each counter costs its own price, reasoning that of output", () => {
  const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
  expect(costOf(USAGE, price)).toBeCloseTo(3 + 1.5 + 0.75 + 0.06 + 0.0375, 10)
})

test("cached tokens cost as input where no other price is named", () => {
  expect(costOf(USAGE, { input: 3, output: 15 })).toBeCloseTo(3 + 2.25 + 0.63, 10)
})

test("a model without a price costs nothing", () => {
  expect(costOf(USAGE, undefined)).toBe(0)
})
