/**
 * In which conversation of the harness the next attempt goes on. One in which something was said or done is continued; one in
 * which nothing was is begun again, with the whole prompt, unless the harness has kept the prompt. Pure.
 */
import { harnessSessionId } from "@meridian/protocol"

import type { RunAttempt } from "../domain/run.ts"
import type { Harness, SessionChoice } from "../port/harness.ts"
import type { RunPlan } from "./run-plan.ts"

export interface ChosenSession {
  readonly session: SessionChoice
  /** It has not been told what to do: it needs the whole prompt. */
  readonly isUntold: boolean
}

export const sessionFor = (options: {
  readonly plan: Pick<RunPlan, "session">
  /** Of this harness, since it took over. */
  readonly attempts: readonly RunAttempt[]
  readonly harness: Pick<Harness, "capabilities">
  readonly begin: "go-on" | "anew"
  /** The last session holds the prompt, though nothing was answered. */
  readonly isTold: boolean
  readonly uuid: () => string
}): ChosenSession => {
  const { plan, attempts, harness, begin, isTold, uuid } = options
  const own =
    begin === "anew" ? undefined : attempts.findLast((attempt) => attempt.harnessSessionId !== undefined)
  const id = own?.harnessSessionId
  // It takes up its session by the same words: what was done is not done again, and nothing has to be said about it.
  if (harness.capabilities.reopenSession && (plan.session.kind === "new" || begin === "anew"))
    return { session: { kind: "new", chosen: id ?? uuid() }, isUntold: true }
  if (id !== undefined && (isTold || hasAnswered(attempts, id)))
    return { session: { kind: "continue", id: harnessSessionId(id) }, isUntold: false }
  // A chosen id can be used once with most harnesses, so every attempt at a new conversation chooses another.
  if (begin === "anew" || plan.session.kind === "new")
    return { session: { kind: "new", chosen: uuid() }, isUntold: true }
  const from = harnessSessionId(plan.session.id)
  return plan.session.kind === "fork"
    ? { session: { kind: "fork", id: from, chosen: uuid() }, isUntold: true }
    : { session: { kind: "continue", id: from }, isUntold: true }
}

const hasAnswered = (attempts: readonly RunAttempt[], id: string): boolean =>
  attempts.some((attempt) => attempt.harnessSessionId === id && attempt.madeProgress === true)
