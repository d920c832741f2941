import { expect, test } from "vitest"

import type { Next } from "./after-attempt.ts"
import { decideWhere, type FailoverFacts } from "./failover.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOW = Date.parse("2026-01-01T12:00:00.000Z")
const iso = (ms: number): string => new Date(ms).toISOString()

const tried = (harness: string, why: string, resetAt?: number) => ({
  number: 1,
  harness,
  began: iso(NOW - MINUTE),
  ended: iso(NOW - MINUTE),
  why,
  ...(resetAt === undefined ? {} : { resetAt: iso(resetAt) }),
})

const FACTS: FailoverFacts = {
  failure: "rate_limit",
  order: ["claude", "codex", "direct"],
  current: "claude",
  attempts: [],
  tries: 1,
  failingSinceMs: NOW,
  afterMs: 30 * MINUTE,
  nowMs: NOW,
}
const END: Next = { tag: "end" }
const wait = (ms: number): Next => ({ tag: "wait", untilMs: NOW + ms })
const to = (harness: string): Next => ({ tag: "hand-over", to: harness })

test.each<[string, Next, Partial<FailoverFacts>, Next]>([
  ["a short limit is waited for", wait(29 * MINUTE), {}, wait(29 * MINUTE)],
  ["so is one of exactly the bound", wait(30 * MINUTE), {}, wait(30 * MINUTE)],
  ["after a longer one the next harness takes over", wait(5 * HOUR), {}, to("codex")],
  ["short ones in a row add up", wait(MINUTE), { failingSinceMs: NOW - 30 * MINUTE }, to("codex")],
  [
    "a limit beyond seven days is then no question",
    { tag: "ask", untilMs: NOW + 200 * HOUR },
    {},
    to("codex"),
  ],
  ["a success ends the run", END, { failure: undefined }, END],
  ["a refused key hands over", END, { failure: "authentication" }, to("codex")],
  ["so does a spent quota", END, { failure: "quota" }, to("codex")],
  ["so does a missing program", END, { failure: "not_started" }, to("codex")],
  [
    "two crashes are retried",
    { tag: "again", delayMs: 1 },
    { failure: "crashed", tries: 2 },
    { tag: "again", delayMs: 1 },
  ],
  ["three hand over", { tag: "again", delayMs: 1 }, { failure: "crashed", tries: 3 }, to("codex")],
  [
    "a broken connection is retried",
    { tag: "again", delayMs: 1 },
    { failure: "connection", tries: 9 },
    { tag: "again", delayMs: 1 },
  ],
  [
    "but not forever",
    { tag: "again", delayMs: 1 },
    { failure: "connection", failingSinceMs: NOW - 30 * MINUTE },
    to("codex"),
  ],
  ["a failure that any harness would meet does not hand over", END, { failure: "permission_rejected" }, END],
  ["the last hands over to the first", wait(5 * HOUR), { current: "direct" }, to("claude")],
  [
    "one that waits for a limit is skipped",
    wait(5 * HOUR),
    { attempts: [tried("codex", "rate_limit", NOW + HOUR)] },
    to("direct"),
  ],
  [
    "one whose limit is over gets its turn",
    wait(5 * HOUR),
    { attempts: [tried("codex", "rate_limit", NOW - 1)] },
    to("codex"),
  ],
  [
    "one that is out stays out",
    wait(5 * HOUR),
    { attempts: [tried("codex", "authentication"), tried("direct", "crashed")] },
    wait(5 * HOUR),
  ],
  [
    "no harness is left",
    END,
    { failure: "crashed", attempts: [tried("codex", "quota"), tried("direct", "quota")] },
    END,
  ],
  [
    "all wait, and the one whose limit ends first continues",
    wait(5 * HOUR),
    { attempts: [tried("codex", "rate_limit", NOW + 2 * HOUR), tried("direct", "overload", NOW + 3 * HOUR)] },
    { tag: "hand-over", to: "codex", untilMs: NOW + 2 * HOUR },
  ],
  [
    "the current one, if its limit ends first",
    wait(HOUR),
    { attempts: [tried("codex", "rate_limit", NOW + 2 * HOUR), tried("direct", "quota")] },
    wait(HOUR),
  ],
  [
    "a limit without a time counts as half an hour",
    wait(5 * HOUR),
    { attempts: [tried("codex", "rate_limit"), tried("direct", "quota")] },
    { tag: "hand-over", to: "codex", untilMs: NOW + 29 * MINUTE },
  ],
  [
    "a dead worker says nothing about its harness",
    wait(5 * HOUR),
    { attempts: [tried("codex", "worker_died")] },
    to("codex"),
  ],
  [
    "waiting words are delivered where they were sent",
    { tag: "deliver" },
    { failure: undefined },
    { tag: "deliver" },
  ],
])("%s", (_name, next, facts, expected) => {
  expect(decideWhere(next, { ...FACTS, ...facts })).toEqual(expected)
})
