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
  ["one of exactly the bound too", wait(30 * MINUTE), {}, wait(30 * MINUTE)],
  ["a longer one is the next harness's", wait(5 * HOUR), {}, to("codex")],
  [
    "short ones that do not end count together",
    wait(MINUTE),
    { failingSinceMs: NOW - 30 * MINUTE },
    to("codex"),
  ],
  [
    "a limit beyond seven days is no question then",
    { tag: "ask", untilMs: NOW + 200 * HOUR },
    {},
    to("codex"),
  ],
  ["a success ends the run", END, { failure: undefined }, END],
  ["a refused key is another's turn", END, { failure: "authentication" }, to("codex")],
  ["so is money that is spent", END, { failure: "quota" }, to("codex")],
  ["so is a program that is gone", END, { failure: "not_started" }, to("codex")],
  [
    "two crashes are tried again",
    { tag: "again", delayMs: 1 },
    { failure: "crashed", tries: 2 },
    { tag: "again", delayMs: 1 },
  ],
  ["three are enough", { tag: "again", delayMs: 1 }, { failure: "crashed", tries: 3 }, to("codex")],
  [
    "a broken connection is tried again",
    { tag: "again", delayMs: 1 },
    { failure: "connection", tries: 9 },
    { tag: "again", delayMs: 1 },
  ],
  [
    "but not for ever",
    { tag: "again", delayMs: 1 },
    { failure: "connection", failingSinceMs: NOW - 30 * MINUTE },
    to("codex"),
  ],
  ["what any harness would meet is no reason", END, { failure: "permission_rejected" }, END],
  ["the last hands over to the first", wait(5 * HOUR), { current: "direct" }, to("claude")],
  [
    "one that waits for a limit is passed over",
    wait(5 * HOUR),
    { attempts: [tried("codex", "rate_limit", NOW + HOUR)] },
    to("direct"),
  ],
  [
    "one whose limit is over has its turn",
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
    "nobody is left",
    END,
    { failure: "crashed", attempts: [tried("codex", "quota"), tried("direct", "quota")] },
    END,
  ],
  [
    "all wait, and the one whose limit ends first goes on",
    wait(5 * HOUR),
    { attempts: [tried("codex", "rate_limit", NOW + 2 * HOUR), tried("direct", "overload", NOW + 3 * HOUR)] },
    { tag: "hand-over", to: "codex", untilMs: NOW + 2 * HOUR },
  ],
  [
    "its own, when that ends first",
    wait(HOUR),
    { attempts: [tried("codex", "rate_limit", NOW + 2 * HOUR), tried("direct", "quota")] },
    wait(HOUR),
  ],
  [
    "a limit without a time is taken for half an hour",
    wait(5 * HOUR),
    { attempts: [tried("codex", "rate_limit"), tried("direct", "quota")] },
    { tag: "hand-over", to: "codex", untilMs: NOW + 29 * MINUTE },
  ],
  [
    "a worker that died says nothing of its harness",
    wait(5 * HOUR),
    { attempts: [tried("codex", "worker_died")] },
    to("codex"),
  ],
  [
    "words that wait are told where they were sent",
    { tag: "deliver" },
    { failure: undefined },
    { tag: "deliver" },
  ],
])("%s", (_name, next, facts, expected) => {
  expect(decideWhere(next, { ...FACTS, ...facts })).toEqual(expected)
})
