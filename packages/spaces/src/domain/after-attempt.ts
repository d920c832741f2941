/**
 * What follows an attempt of a run, as a value. Limits that end at a told time are waited for; a limit without one is tried
 * again a few times and then waited for, longer each time; what broke on the way is tried again for as long as the run's
 * patience lasts. Unknown failures are not repeated: they would cost twice.
 */
import type { FailureClass } from "./failure-class.ts"

export type Next =
  | { readonly tag: "end" }
  /** The same again, after a moment. */
  | { readonly tag: "again"; readonly delayMs: number }
  /** Nothing happens before this time, unless a person says so. */
  | { readonly tag: "wait"; readonly untilMs: number }
  /** The harness does not know its own session any more: a new one, told what happened. */
  | { readonly tag: "anew" }
  /** Words that were sent meanwhile are its next message. */
  | { readonly tag: "deliver" }
  /** Only a person can say whether it goes on. */
  | { readonly tag: "paused"; readonly for: "budget" | "question" }
  /** Too far away to wait for unasked. */
  | { readonly tag: "ask"; readonly untilMs: number }
  /** Another harness goes on; not before this time, when there is one (`failover.ts`). */
  | { readonly tag: "hand-over"; readonly to: string; readonly untilMs?: number }

export interface AttemptFacts {
  /** Undefined: it succeeded. */
  readonly failure?: FailureClass | undefined
  /** When the limit ends, as far as that was said. */
  readonly resetMs?: number | undefined
  /** Somebody wants the run to end. */
  readonly isStopped: boolean
  /** Words wait to be told. */
  readonly hasWords: boolean
  /** It went on in a session that was there before, so a new one is another thing. */
  readonly mayBeginAnew: boolean
  /** Attempts in a row that neither said nor did anything, this one too; 1 after one that did. */
  readonly tries: number
  /** When the first of them began; now, when this one did something before it failed. */
  readonly failingSinceMs: number
  readonly nowMs: number
}

export interface AttemptPolicy {
  readonly maxRetries: number
  readonly backoffMs: number
  /** How long a run goes on trying what fails for reasons that pass. */
  readonly patienceMs: number
}

export const LONGEST_DELAY_MS = 60_000
const SHORTEST_WAIT_MS = 1_000
const UNKNOWN_RESET_MS = 60_000
const LONGEST_UNKNOWN_RESET_MS = 30 * 60_000
const FARTHEST_RESET_MS = 7 * 24 * 3_600_000
/** Told resets that bring nothing: a provider that says "in a second" for ever is not asked for ever. */
const MOST_TOLD_RESETS = 50
export const MOST_CRASHES = 3
/** Asked once, by the note it goes on with. */
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
    // Nothing that time would mend; the class is on record.
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
  // A time in the past means that it is over: a second is enough.
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
