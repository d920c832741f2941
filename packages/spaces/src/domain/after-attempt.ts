/**
 * Decides what follows an attempt of a run. A limit with a known end is waited for. A limit without one is retried a
 * few times and then waited for, longer each time. Transient failures are retried for as long as the run's patience
 * lasts. Unknown failures are not retried: they would cost twice.
 */
import type { FailureClass } from "./failure-class.ts"

export type Next =
  | { readonly tag: "end" }
  /** Retry after a delay. */
  | { readonly tag: "again"; readonly delayMs: number }
  /** Do nothing before this time, unless a person asks for it. */
  | { readonly tag: "wait"; readonly untilMs: number }
  /** The harness no longer knows its own session. Open a new one and tell it what happened. */
  | { readonly tag: "anew" }
  /** Send the words that arrived during the attempt as the next message. */
  | { readonly tag: "deliver" }
  /** Only a person can decide whether it continues. */
  | { readonly tag: "paused"; readonly for: "budget" | "question" }
  /** The time is too far away to wait for without asking. */
  | { readonly tag: "ask"; readonly untilMs: number }
  /** Continue in another harness, not before `untilMs` if that is set (`failover.ts`). */
  | { readonly tag: "hand-over"; readonly to: string; readonly untilMs?: number }

export interface AttemptFacts {
  /** Undefined if the attempt succeeded. */
  readonly failure?: FailureClass | undefined
  /** When the limit ends, if known. */
  readonly resetMs?: number | undefined
  /** A stop was requested. */
  readonly isStopped: boolean
  /** Words are waiting to be sent. */
  readonly hasWords: boolean
  /** False if the run continued a session that existed before it: a new session would not be the same conversation. */
  readonly mayBeginAnew: boolean
  /** Attempts in a row that produced nothing, including this one. 1 after an attempt that produced something. */
  readonly tries: number
  /** When the first of them began, or now if this attempt produced something before it failed. */
  readonly failingSinceMs: number
  readonly nowMs: number
}

export interface AttemptPolicy {
  readonly maxRetries: number
  readonly backoffMs: number
  /** How long a run keeps retrying transient failures. */
  readonly patienceMs: number
}

export const LONGEST_DELAY_MS = 60_000
const SHORTEST_WAIT_MS = 1_000
const UNKNOWN_RESET_MS = 60_000
const LONGEST_UNKNOWN_RESET_MS = 30 * 60_000
const FARTHEST_RESET_MS = 7 * 24 * 3_600_000
/** How many announced resets may lead nowhere, so that a provider that always says "in a second" is not asked forever. */
const MOST_TOLD_RESETS = 50
export const MOST_CRASHES = 3
/** One more try: the resume note asks the agent to go on. */
const MOST_STALLS = 1

export const decideNext = (facts: AttemptFacts, policy: AttemptPolicy): Next => {
  if (facts.isStopped) return END
  switch (facts.failure) {
    case undefined:
      return facts.hasWords ? { tag: "deliver" } : END
    case "session_not_found":
      return facts.mayBeginAnew ? { tag: "anew" } : END
    case "stalled":
      return facts.tries <= MOST_STALLS ? { tag: "again", delayMs: 0 } : END
    case "crashed":
      return facts.tries <= MOST_CRASHES ? { tag: "again", delayMs: backoff(facts, policy) } : END
    case "rate_limit":
    case "overload":
      return facts.resetMs === undefined ? unknownReset(facts, policy) : toldReset(facts, facts.resetMs)
    case "server_error":
    case "connection":
      return broken(facts, policy)
    case "budget":
    case "question":
      return { tag: "paused", for: facts.failure }
    // Waiting would not fix these. The record names the class.
    case "authentication":
    case "context_overflow":
    case "incomplete":
    case "invalid_launch":
    case "model_not_found":
    case "no_output":
    case "not_started":
    case "permission_rejected":
    case "quota":
    case "runaway":
    case "session_in_use":
    case "timeout":
    case "unclassified":
      return END
  }
}

const END: Next = { tag: "end" }

const toldReset = (facts: AttemptFacts, resetMs: number): Next => {
  if (facts.tries > MOST_TOLD_RESETS) return END
  // A reset in the past is already over: one second is enough.
  const untilMs = Math.max(resetMs, facts.nowMs + SHORTEST_WAIT_MS)
  return untilMs - facts.nowMs > FARTHEST_RESET_MS ? { tag: "ask", untilMs } : { tag: "wait", untilMs }
}

const unknownReset = (facts: AttemptFacts, policy: AttemptPolicy): Next => {
  if (facts.tries <= policy.maxRetries) return { tag: "again", delayMs: backoff(facts, policy) }
  const doubled = UNKNOWN_RESET_MS * 2 ** Math.min(facts.tries - policy.maxRetries - 1, 10)
  const untilMs = facts.nowMs + Math.min(doubled, LONGEST_UNKNOWN_RESET_MS)
  return isPatient(facts, policy, untilMs) ? { tag: "wait", untilMs } : END
}

const broken = (facts: AttemptFacts, policy: AttemptPolicy): Next => {
  const delayMs = backoff(facts, policy)
  return facts.tries <= policy.maxRetries || isPatient(facts, policy, facts.nowMs + delayMs)
    ? { tag: "again", delayMs }
    : END
}

const isPatient = (
  { failingSinceMs }: AttemptFacts,
  { patienceMs }: AttemptPolicy,
  untilMs: number,
): boolean => untilMs <= failingSinceMs + patienceMs

const backoff = ({ tries }: AttemptFacts, { backoffMs }: AttemptPolicy): number =>
  Math.min(backoffMs * 2 ** Math.min(tries - 1, 20), LONGEST_DELAY_MS)
