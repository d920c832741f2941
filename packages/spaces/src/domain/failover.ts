/**
 * Decides whether a run continues in another harness after an attempt, and in which one. A harness cannot go on if a
 * limit lasts longer than the run waits for one, if it is gone, if its provider refuses, or after three crashes. The
 * next free harness in the order takes over, round and round. If all have limits, the one whose limit ends first
 * takes over.
 */
import { MOST_CRASHES, type Next } from "./after-attempt.ts"
import type { FailureClass } from "./failure-class.ts"
import type { RunAttempt } from "./run.ts"

export interface FailoverFacts {
  /** Undefined if the attempt succeeded. */
  readonly failure?: FailureClass | undefined
  /** All harnesses of the run in their order, including the one that made the attempt. */
  readonly order: readonly string[]
  readonly current: string
  /** All attempts of the run, oldest first. */
  readonly attempts: readonly RunAttempt[]
  /** Attempts of the current harness in a row that produced nothing. */
  readonly tries: number
  /** When the first of them failed. */
  readonly failingSinceMs: number
  /** A limit longer than this is not waited for. */
  readonly afterMs: number
  readonly nowMs: number
}

/** A limit without a time counts as over when an unknown one would be retried at the latest. */
const UNKNOWN_LIMIT_MS = 30 * 60_000

export const decideWhere = (next: Next, facts: FailoverFacts): Next => {
  if (!cannotGoOn(next, facts)) return next
  const { order, current, nowMs } = facts
  const at = order.indexOf(current)
  const others = [...order.slice(at + 1), ...order.slice(0, Math.max(at, 0))].map((harness) =>
    standingOf(harness, facts.attempts),
  )
  const able = others.filter(({ isOut }) => !isOut)
  const free = able.find(({ limitEndsMs }) => limitEndsMs <= nowMs)
  if (free !== undefined) return { tag: "hand-over", to: free.harness }
  const [first] = able.toSorted((left, right) => left.limitEndsMs - right.limitEndsMs)
  const ownUntilMs = next.tag === "wait" || next.tag === "ask" ? next.untilMs : Number.POSITIVE_INFINITY
  return first === undefined || first.limitEndsMs >= ownUntilMs
    ? next
    : { tag: "hand-over", to: first.harness, untilMs: first.limitEndsMs }
}

const cannotGoOn = (next: Next, facts: FailoverFacts): boolean => {
  const { failure, failingSinceMs, afterMs, nowMs, tries } = facts
  if (failure === undefined) return false
  switch (next.tag) {
    case "wait":
    case "ask":
      return next.untilMs - failingSinceMs > afterMs
    case "again":
      return failure === "crashed"
        ? tries >= MOST_CRASHES
        : STANDING[failure] === "limit" && nowMs + next.delayMs - failingSinceMs > afterMs
    case "end":
      return STANDING[failure] !== "task"
    case "anew":
    case "deliver":
    case "paused":
    case "hand-over":
      return false
  }
}

interface Standing {
  readonly harness: string
  readonly isOut: boolean
  readonly limitEndsMs: number
}

/** The standing of a harness that is not at work, as its last attempt left it. */
const standingOf = (harness: string, attempts: readonly RunAttempt[]): Standing => {
  const free = { harness, isOut: false, limitEndsMs: Number.NEGATIVE_INFINITY }
  const last = attempts.findLast((attempt) => attempt.harness === harness)
  const failure = last?.why
  if (last === undefined || failure === undefined || !isFailure(failure)) return free
  switch (STANDING[failure]) {
    case "out":
      return { harness, isOut: true, limitEndsMs: Number.POSITIVE_INFINITY }
    case "limit": {
      const told = Date.parse(last.resetAt ?? "")
      const ended = Date.parse(last.ended ?? "")
      return { harness, isOut: false, limitEndsMs: Number.isNaN(told) ? ended + UNKNOWN_LIMIT_MS : told }
    }
    case "task":
      return free
  }
}

const isFailure = (why: string): why is FailureClass => Object.hasOwn(STANDING, why)

/** `limit` passes, `out` does not, and `task` would meet any harness or was requested. */
const STANDING = {
  rate_limit: "limit",
  overload: "limit",
  server_error: "limit",
  connection: "limit",
  context_overflow: "out",
  authentication: "out",
  quota: "out",
  model_not_found: "out",
  session_not_found: "out",
  session_in_use: "out",
  invalid_launch: "out",
  not_started: "out",
  runaway: "out",
  no_output: "out",
  crashed: "out",
  stalled: "out",
  unclassified: "out",
  permission_rejected: "task",
  incomplete: "task",
  timeout: "task",
  budget: "task",
  question: "task",
} as const satisfies Record<FailureClass, "limit" | "out" | "task">
