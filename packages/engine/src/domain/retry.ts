import { LIMITS } from "./limits.ts"

export interface RetryPolicy {
  /** Physical tries of one turn, the first included. */
  readonly attempts: number
  readonly baseMs: number
}

export const DEFAULT_RETRY: RetryPolicy = { attempts: 4, baseMs: 500 }

export type RetryDecision =
  | { readonly kind: "retry"; readonly delayMs: number }
  | { readonly kind: "give-up" }

export interface FailedAttempt {
  /** From 1. */
  readonly attempt: number
  readonly retryable: boolean
  /** Something of the answer was already seen: trying again would show it twice. */
  readonly visibleOutput: boolean
  readonly retryAfterMs?: number
  /** In [0, 1): spreads clients that failed together. */
  readonly chance: number
}

/** Exponential with jitter, never sooner than the provider asked, never later than the bound, never after visible output. */
export const decideRetry = (policy: RetryPolicy, failed: FailedAttempt): RetryDecision => {
  if (!failed.retryable || failed.visibleOutput || failed.attempt >= policy.attempts)
    return { kind: "give-up" }
  if ((failed.retryAfterMs ?? 0) > LIMITS.retryDelayMs) return { kind: "give-up" }
  const exponential = policy.baseMs * 2 ** (failed.attempt - 1)
  const jittered = exponential * (0.75 + failed.chance * 0.5)
  const delayMs = Math.min(Math.max(jittered, failed.retryAfterMs ?? 0), LIMITS.retryDelayMs)
  return { kind: "retry", delayMs: Math.round(delayMs) }
}
