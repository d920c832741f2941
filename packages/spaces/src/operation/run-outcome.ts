/** How a run ended, from the harness's verdict and the reason it was stopped. Pure. */
import type { RunAttempt, RunEnd } from "../domain/run.ts"
import { addUsage as addBoth } from "../harness/usage.ts"
import type { Usage, Verdict } from "../port/harness.ts"
import type { Proven, ProvenEnd } from "./prove-run.ts"
import type { Stopper } from "./stop-source.ts"

export type Outcome = Omit<RunEnd, "finishedAt" | "durationSecs" | "by">

export const outcomeOf = (settled: {
  readonly verdict: Verdict
  readonly proof: Proven
  /** By all attempts. */
  readonly used: Usage | undefined
  readonly stopper: Pick<Stopper, "reason" | "exitCode">
}): Outcome => {
  const { verdict, stopper, proof } = settled
  const usage = { ...settled.used, sessionUsage: verdict.sessionUsage }
  // A stop after success is still a success. Any other stopped run counts as stopped.
  if (verdict.status === "succeeded" && proof.tag === "proven") return { ...provenEnd(proof), ...usage }
  if (verdict.status === "succeeded" && proof.tag !== "stopped")
    return { status: "succeeded", exitCode: 0, ...usage }
  if (stopper.reason() !== undefined) return { ...stopped(stopper), ...usage }
  // Another process ended the harness by a signal.
  if (verdict.status === "cancelled")
    return { status: "cancelled", exitCode: 143, error: "cancelled", ...usage }
  return {
    status: "failed",
    exitCode: verdict.failure?.class === "invalid_launch" ? 2 : 1,
    error: verdict.failure?.class ?? "unclassified",
    message: verdict.failure?.message,
    ...usage,
  }
}

const provenEnd = ({ verdict, message, changedCheckFiles: files }: ProvenEnd): Outcome => {
  const changed = files.length === 0 ? {} : { changedCheckFiles: files }
  return verdict === "verified"
    ? { status: "succeeded", exitCode: 0, verdict, ...changed }
    : { status: "failed", exitCode: 1, error: "refuted", message, verdict, ...changed }
}

export const stopped = (stopper: Pick<Stopper, "reason" | "exitCode">): Outcome =>
  stopper.reason() === "timeout"
    ? { status: "failed", exitCode: 3, error: "timeout", message: "The run took longer than its timeout." }
    : { status: "cancelled", exitCode: stopper.exitCode(), error: "cancelled" }

/** What the attempts of a run have used, as far as they reported it. */
export const usageOf = (attempts: readonly RunAttempt[]): Usage | undefined =>
  attempts.reduce<Usage | undefined>(
    (sum, { inputTokens, cachedInputTokens, outputTokens, costUsd }) =>
      inputTokens === undefined && outputTokens === undefined && costUsd === undefined
        ? sum
        : addUsage(sum, {
            inputTokens: inputTokens ?? 0,
            cachedInputTokens: cachedInputTokens ?? 0,
            outputTokens: outputTokens ?? 0,
            ...(costUsd === undefined ? {} : { costUsd }),
          }),
    undefined,
  )

/** Unknown only if neither is known. */
export const addUsage = (before: Usage | undefined, more: Usage | undefined): Usage | undefined =>
  before === undefined || more === undefined ? (before ?? more) : addBoth(before, more)
