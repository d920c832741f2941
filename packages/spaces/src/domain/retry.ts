/** Whether a failed attempt is tried again. Only what is known to pass by itself is; unknown failures cost money twice. */
export type RetryDecision = { readonly tag: "stop" } | { readonly tag: "retry"; readonly delayMs: number }

export const LONGEST_DELAY_MS = 60_000

/** `attempt` is 1 for the first; at most `maxRetries` follow it, each waiting twice as long as the one before. */
export const decideRetry = (
  failed: { readonly attempt: number; readonly transient: boolean },
  policy: { readonly maxRetries: number; readonly backoffMs: number },
): RetryDecision => {
  if (!failed.transient || failed.attempt > policy.maxRetries) return { tag: "stop" }
  return { tag: "retry", delayMs: Math.min(policy.backoffMs * 2 ** (failed.attempt - 1), LONGEST_DELAY_MS) }
}
