/** Decides what follows an attempt: collects the facts from the log and the verdict for the two decisions. */
import { readResetTime } from "@meridian/protocol"

import { decideNext, type Next } from "../domain/after-attempt.ts"
import { decideWhere } from "../domain/failover.ts"
import { breaksInRow, fruitlessAttempts, stallsInRow, type Run } from "../domain/run.ts"
import type { HarnessFailure, Verdict } from "../port/harness.ts"
import { waitingWords } from "../store/run-inbox.ts"
import type { Leg } from "./run-context.ts"

export const decideAttempt = (
  { plan, world, stopper, files }: Leg,
  ended: {
    readonly run: Run
    readonly verdict: Pick<Verdict, "status" | "failure">
    /** It continued a session that existed before. */
    readonly wasContinued: boolean
  },
): Next => {
  const { run, verdict, wasContinued } = ended
  const nowMs = world.clock.now()
  const row = Math.max(fruitlessAttempts(run), breaksInRow(run))
  const tries = Math.max(1, row)
  // If this attempt made progress before it failed, no row of failures began earlier.
  const since = row === 0 ? Number.NaN : Date.parse(run.attempts.at(-tries)?.began ?? "")
  const failingSinceMs = Number.isNaN(since) ? nowMs : since
  const failure = verdict.status === "failed" ? (verdict.failure?.class ?? "unclassified") : undefined
  const next = decideNext(
    {
      failure,
      resetMs: verdict.failure === undefined ? undefined : resetOf(verdict.failure, nowMs),
      // A harness that another process ended by a signal counts as stopped too.
      isStopped: stopper.signal.aborted || verdict.status === "cancelled",
      hasWords: waitingWords(files).length > 0,
      mayBeginAnew: wasContinued,
      tries: failure === "stalled" ? Math.max(1, stallsInRow(run, plan.policy.stallMs)) : tries,
      failingSinceMs,
      nowMs,
    },
    plan.policy,
  )
  return plan.failover === undefined || stopper.signal.aborted
    ? next
    : decideWhere(next, {
        failure,
        order: plan.failover.order,
        current: run.harness,
        attempts: run.attempts,
        tries,
        failingSinceMs,
        afterMs: plan.failover.afterMs,
        nowMs,
      })
}

/** When a limit ends, by a value the harness reported or by the words of its message. */
export const resetOf = (failure: HarnessFailure, nowMs: number): number | undefined => {
  if (failure.resetAtMs !== undefined) return failure.resetAtMs
  if (failure.retryAfterMs !== undefined) return nowMs + failure.retryAfterMs
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return readResetTime(failure.message, { nowMs, zone: timeZone })
}
