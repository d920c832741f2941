import { expect, test } from "vitest"

import { verifies } from "../../../../test/verifies.ts"
import { decideNext, type AttemptFacts, type Next } from "./after-attempt.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOW = 1_000_000_000_000
const POLICY = { maxRetries: 3, backoffMs: 250, patienceMs: 24 * HOUR }
const FACTS: AttemptFacts = {
  isStopped: false,
  hasWords: false,
  mayBeginAnew: true,
  tries: 1,
  failingSinceMs: NOW,
  nowMs: NOW,
}
const END = { tag: "end" } as const
const wait = (milliseconds: number): Next => ({ tag: "wait", untilMs: NOW + milliseconds })
const again = (delayMs: number): Next => ({ tag: "again", delayMs })

test.each<[string, Partial<AttemptFacts>, Next]>([
  ["a success ends the run", {}, END],
  ["waiting words are delivered first", { hasWords: true }, { tag: "deliver" }],
  ["nothing follows a stop", { isStopped: true, failure: "rate_limit", hasWords: true }, END],
  ["a full context is not retried", { failure: "context_overflow" }, END],
  ["a refused key is not retried", { failure: "authentication" }, END],
  ["a known reset is waited for", { failure: "rate_limit", resetMs: NOW + 5 * HOUR }, wait(5 * HOUR)],
  ["so is that of an overload", { failure: "overload", resetMs: NOW + MINUTE }, wait(MINUTE)],
  ["even beyond the patience", { failure: "rate_limit", resetMs: NOW + 100 * HOUR }, wait(100 * HOUR)],
  [
    "a reset in the past means a wait of one second",
    { failure: "rate_limit", resetMs: NOW - HOUR },
    wait(1_000),
  ],
  [
    "a reset beyond seven days is a question",
    { failure: "rate_limit", resetMs: NOW + 169 * HOUR },
    { tag: "ask", untilMs: NOW + 169 * HOUR },
  ],
  ["a crash is retried", { failure: "crashed" }, again(250)],
  ["but only three times", { failure: "crashed", tries: 4 }, END],
  ["a stalled run is asked to go on once", { failure: "stalled" }, again(0)],
  ["and ends if it stalls again", { failure: "stalled", tries: 2 }, END],
  ["a missing session is replaced by a new one", { failure: "session_not_found" }, { tag: "anew" }],
  ["unless it existed before the run", { failure: "session_not_found", mayBeginAnew: false }, END],
  [
    "a provider that always says 'in a second' is given up",
    { failure: "rate_limit", resetMs: NOW, tries: 51 },
    END,
  ],
])("%s", (_name, facts, next) => {
  expect(decideNext({ ...FACTS, ...facts }, POLICY)).toEqual(next)
})

test("without patience a run retries as often as configured, and ends", () => {
  const policy = { ...POLICY, patienceMs: 0 }
  for (const failure of ["rate_limit", "connection"] as const) {
    expect(decideNext({ ...FACTS, failure, tries: 3 }, policy)).toEqual(again(1_000))
    expect(decideNext({ ...FACTS, failure, tries: 4 }, policy)).toEqual(END)
  }
})

verifies("limit.unknown", () => {
  const next = (facts: Partial<AttemptFacts>): Next =>
    decideNext({ ...FACTS, failure: "rate_limit", ...facts }, POLICY)
  expect([1, 2, 3, 4, 5, 40].map((tries) => next({ tries }))).toEqual([
    again(250),
    again(500),
    again(1_000),
    wait(MINUTE),
    wait(2 * MINUTE),
    wait(30 * MINUTE),
  ])
  expect(next({ failure: "overload", tries: 5 })).toEqual(wait(2 * MINUTE))
  expect(next({ tries: 40, failingSinceMs: NOW - 24 * HOUR })).toEqual(END)
})

verifies("limit.patience", () => {
  for (const failure of ["connection", "server_error"] as const) {
    expect(decideNext({ ...FACTS, failure, tries: 200 }, POLICY)).toEqual(again(MINUTE))
    const long = { failure, tries: 200, failingSinceMs: NOW - 24 * HOUR } as const
    expect(decideNext({ ...FACTS, ...long }, POLICY)).toEqual(END)
  }
})
