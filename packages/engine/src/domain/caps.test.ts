import { Failure } from "@meridian/protocol"
import { expect, test } from "vitest"

import {
  breachOf,
  budgetPause,
  capNotices,
  capsInForce,
  NO_CAPS,
  NOTHING_SPENT,
  readRaise,
  requireAboveSpent,
  say,
} from "./caps.ts"

const codeOf = (act: () => unknown): string => {
  try {
    act()
    return "none"
  } catch (cause) {
    if (cause instanceof Failure) return cause.code
    throw cause
  }
}

test("without any cap nothing is computed", () => {
  expect(capsInForce([undefined, undefined], NO_CAPS)).toBe(NO_CAPS)
  expect(breachOf({ cost: 1e9, tokens: 1e9, turns: 1e9, timeMs: 1e9 }, NO_CAPS)).toBeUndefined()
})

test("the tightest cap of each measure counts, unless a person has set one", () => {
  const caps = capsInForce([{ maxCost: 3, maxTurns: 9 }, undefined, { maxCost: 2, maxTokens: 5 }], NO_CAPS)
  expect(caps).toEqual({ maxCost: 2, maxTurns: 9, maxTokens: 5 })
  expect(capsInForce([caps], { maxCost: 7 })).toEqual({ maxCost: 7, maxTurns: 9, maxTokens: 5 })
})

test("a cap is reached at its number, not only above it", () => {
  const spent = { ...NOTHING_SPENT, turns: 4 }
  expect(breachOf(spent, { maxTurns: 5 })).toBeUndefined()
  expect(breachOf(spent, { maxTurns: 4 })).toEqual({ measure: "turns", spent: 4, cap: 4 })
  expect(codeOf(() => requireAboveSpent({ maxTurns: 4 }, spent))).toBe("CAP_BELOW_SPENT")
  expect(codeOf(() => requireAboveSpent({ maxTurns: 5 }, spent))).toBe("none")
})

test("each mark is reported once per cap, and only the highest of those passed together", () => {
  const caps = { maxTurns: 100 }
  const at = (turns: number, told = {}) =>
    capNotices({ ...NOTHING_SPENT, turns }, caps, told).map(({ percent }) => percent)
  expect([at(49), at(50), at(79), at(80), at(94), at(95), at(100)]).toEqual([
    [],
    [50],
    [50],
    [80],
    [80],
    [95],
    [95],
  ])
  expect(at(60, { turns: { cap: 100, percent: 50 } })).toEqual([])
  expect(at(80, { turns: { cap: 100, percent: 50 } })).toEqual([80])
  // The agent was told of the cap before it was raised.
  expect(at(60, { turns: { cap: 55, percent: 95 } })).toEqual([50])
})

test("an answer names an amount of what is used up, or amounts of anything", () => {
  const { detail } = budgetPause({ measure: "cost", spent: 1.2, cap: 1 })
  expect(readRaise(detail, "raise")).toEqual({ maxCost: 2.2 })
  expect(readRaise(detail, "stop")).toBeUndefined()
  expect(readRaise(detail, "$2.50")).toEqual({ maxCost: 2.5 })
  expect(readRaise(detail, "--max-cost=3 max-time=90m, tokens=7")).toEqual({
    maxCost: 3,
    maxTimeMs: 5_400_000,
    maxTokens: 7,
  })
  for (const answer of ["", "a lot", "2h", "tokens=5", "cost=0", "cost=Infinity", "cost=3 cost=x"])
    expect([answer, codeOf(() => readRaise(detail, answer))]).toEqual([answer, "INVALID_INPUT"])
  expect(codeOf(() => readRaise(detail, "1.2"))).toBe("CAP_BELOW_SPENT")
  expect(readRaise(budgetPause({ measure: "timeMs", spent: 70_000, cap: 60_000 }).detail, "2m")).toEqual({
    maxTimeMs: 120_000,
  })
})

test("amounts are said with their units", () => {
  expect([
    say("cost", 0.001_234),
    say("cost", 12.345),
    say("timeMs", 90_000),
    say("timeMs", 5_400_000),
  ]).toEqual(["0.0012 dollars", "12.35 dollars", "1.5 minutes", "1.5 hours"])
})
