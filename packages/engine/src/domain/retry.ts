/** What follows a failed attempt: another one soon, one later, or none. */
import { LIMITS } from "./limits.ts"

export interface RetryPolicy {
  /** Physical attempts of one turn, including the first. A configured number also means: then give up. */
  readonly attempts: number
  readonly baseMs: number
}

export interface RetrySettings extends RetryPolicy {
  /** After the attempts of a turn: true parks the session, false fails the turn. */
  readonly isPatient: boolean
  /** How long a row of failures is waited out. */
  readonly patienceMs: number
}

export const DEFAULT_RETRY: RetryPolicy = { attempts: 4, baseMs: 500 }

export type RetryDecision =
  | { readonly kind: "retry"; readonly delayMs: number }
  | { readonly kind: "park"; readonly until: number; readonly since: number; readonly count: number }
  /** The provider's limit ends so late that a person decides. */
  | { readonly kind: "ask"; readonly until: number }
  | { readonly kind: "give-up" }

export interface FailedAttempt {
  /** From 1. */
  readonly attempt: number
  readonly retryable: boolean
  /** A limit passes only with time. Any other failure may be over in a minute. */
  readonly isLimit: boolean
  /** Part of the answer was already visible. Trying again would show it twice. */
  readonly visibleOutput: boolean
  readonly retryAfterMs?: number
  /** Milliseconds since 1970. */
  readonly now: number
  /** The session was parked before and has made no progress since. */
  readonly parked?: { readonly since: number; readonly count: number }
  /** In [0, 1): spreads clients that failed together. */
  readonly chance: number
}

/** Exponential backoff with jitter. Never sooner than the provider asked, and never after visible output. */
export const decideRetry = (settings: RetrySettings, failed: FailedAttempt): RetryDecision => {
  const { attempt, now, retryAfterMs = 0 } = failed
  if (!failed.retryable || failed.visibleOutput) return { kind: "give-up" }
  if (retryAfterMs >= LIMITS.parkLeastMs) {
    if (settings.patienceMs >= LIMITS.parkLeastMs)
      return retryAfterMs > LIMITS.parkMostMs
        ? { kind: "ask", until: now + retryAfterMs }
        : park(failed, now + retryAfterMs)
    if (retryAfterMs > LIMITS.retryDelayMs) return { kind: "give-up" }
  }
  if (attempt < settings.attempts) {
    const exponential = settings.baseMs * 2 ** (attempt - 1)
    const jittered = exponential * (0.75 + failed.chance * 0.5)
    const delayMs = Math.min(Math.max(jittered, retryAfterMs), LIMITS.retryDelayMs)
    return { kind: "retry", delayMs: Math.round(delayMs) }
  }
  if (!settings.isPatient) return { kind: "give-up" }
  const until = now + unknownReset(failed)
  return until - (failed.parked?.since ?? now) > settings.patienceMs
    ? { kind: "give-up" }
    : park(failed, until)
}

const park = ({ now, parked }: FailedAttempt, until: number): RetryDecision => ({
  kind: "park",
  until,
  since: parked?.since ?? now,
  count: (parked?.count ?? 0) + 1,
})

/** The wait when no reset time is known. Longer each time. */
const unknownReset = ({ isLimit, parked }: FailedAttempt): number => {
  const { least, most } = isLimit ? LIMITS.unknownLimitMs : LIMITS.unknownOverloadMs
  return Math.min(most, least * 2 ** Math.min(parked?.count ?? 0, 20))
}
