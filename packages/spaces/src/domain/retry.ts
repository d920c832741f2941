/** Whether a failed attempt is tried again. Only what is known to pass by itself is; unknown failures cost money twice. */
export const TRANSIENT = ["rate_limit", "overloaded", "server_error", "connection"] as const
export type Transient = (typeof TRANSIENT)[number]

export type RetryDecision =
  | { readonly tag: "stop" }
  | { readonly tag: "retry"; readonly delayMs: number }

export interface Attempt {
  /** 1 for the first. */
  readonly number: number
  /** Classified by the harness; undefined when it did not fail, or nobody knows why. */
  readonly reason: string | undefined
  /** What the provider asked for. */
  readonly retryAfterMs?: number | undefined
}

const LONGEST_DELAY_MS = 60_000

export const decideRetry = (
  attempt: Attempt,
  policy: { readonly maxRetries: number; readonly backoffMs: number },
): RetryDecision => {
  const transient = TRANSIENT.some((reason) => reason === attempt.reason)
  if (!transient || attempt.number > policy.maxRetries) return { tag: "stop" }
  const backoff = policy.backoffMs * 2 ** (attempt.number - 1)
  return { tag: "retry", delayMs: Math.min(Math.max(backoff, attempt.retryAfterMs ?? 0), LONGEST_DELAY_MS) }
}
