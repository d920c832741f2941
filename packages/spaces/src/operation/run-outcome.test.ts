import { expect, test } from "vitest"

import type { Verdict } from "../port/harness.ts"
import { addUsage, outcomeOf } from "./run-outcome.ts"

const USAGE = { inputTokens: 3, cachedInputTokens: 1, outputTokens: 2 }
const failed = (failure: Verdict["failure"]): Verdict => ({
  status: "failed",
  skippedLines: 0,
  ...(failure === undefined ? {} : { failure }),
})
const nobody = { reason: () => undefined, exitCode: () => 1 }
const signal = { reason: () => "cancelled" as const, exitCode: () => 130 }
const clock = { reason: () => "timeout" as const, exitCode: () => 3 }
const overflow = failed({ class: "context_overflow", message: "too long", transient: false })

test.each([
  [
    "a success is 0, even if the stop came a moment too late",
    { status: "succeeded", skippedLines: 0 },
    signal,
    { status: "succeeded", exitCode: 0 },
  ],
  [
    "a failure of the harness is 1 and keeps its class",
    overflow,
    nobody,
    { status: "failed", exitCode: 1, error: "context_overflow", message: "too long" },
  ],
  [
    "an invalid launch is 2",
    failed({ class: "invalid_launch", message: "flag", transient: false }),
    nobody,
    { status: "failed", exitCode: 2 },
  ],
  ["a timeout is 3", overflow, clock, { status: "failed", exitCode: 3, error: "timeout" }],
  ["a signal is its own code", overflow, signal, { status: "cancelled", exitCode: 130, error: "cancelled" }],
  [
    "a harness that another process ended is cancelled",
    { status: "cancelled", skippedLines: 0 },
    nobody,
    { status: "cancelled", exitCode: 143 },
  ],
] as const)("%s", (_, verdict, stopper, expected) => {
  const outcome = outcomeOf({ verdict, proof: { tag: "unproven" }, used: USAGE, stopper })
  expect(outcome).toMatchObject({ ...expected, ...USAGE })
})

test("the costs of attempts are added up, and an unknown cost stays unknown", () => {
  expect(addUsage(undefined, undefined)).toBeUndefined()
  expect(addUsage(USAGE, undefined)).toEqual(USAGE)
  expect(addUsage(undefined, USAGE)).toEqual(USAGE)
  expect(addUsage({ ...USAGE, costUsd: 0.5 }, USAGE)).toEqual({
    inputTokens: 6,
    cachedInputTokens: 2,
    outputTokens: 4,
    costUsd: 0.5,
  })
})
