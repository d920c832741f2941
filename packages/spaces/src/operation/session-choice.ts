/**
 * In which conversation of the harness the next attempt continues. A conversation with progress is continued. One
 * without is started over with the whole prompt, unless the harness has kept the prompt. Pure.
 */
import { harnessSessionId } from "@meridian/protocol"

import type { RunAttempt } from "../domain/run.ts"
import type { Harness, SessionChoice } from "../port/harness.ts"
import type { RunPlan } from "./run-plan.ts"

export interface ChosenSession {
  readonly session: SessionChoice
  /** It does not know the task yet, so it needs the whole prompt. */
  readonly isUntold: boolean
}

export const sessionFor = (options: {
  readonly plan: Pick<RunPlan, "session">
  /** Attempts of this harness since it took over. */
  readonly attempts: readonly RunAttempt[]
  readonly harness: Pick<Harness, "capabilities">
  readonly begin: "go-on" | "anew"
  /** The last session holds the prompt, although nothing was answered. */
  readonly isTold: boolean
  readonly uuid: () => string
}): ChosenSession => {
  const { plan, attempts, harness, begin, isTold, uuid } = options
  const own =
    begin === "anew" ? undefined : attempts.findLast((attempt) => attempt.harnessSessionId !== undefined)
  const id = own?.harnessSessionId
  // The same words make it resume its session, so nothing is done twice and no note is needed.
  if (harness.capabilities.reopenSession && (plan.session.kind === "new" || begin === "anew"))
    return { session: { kind: "new", chosen: id ?? uuid() }, isUntold: true }
  if (id !== undefined && (isTold || hasAnswered(attempts, id)))
    return { session: { kind: "continue", id: harnessSessionId(id) }, isUntold: false }
  // Most harnesses accept a chosen id only once, so every attempt at a new conversation chooses another.
  if (begin === "anew" || plan.session.kind === "new")
    return { session: { kind: "new", chosen: uuid() }, isUntold: true }
  const from = harnessSessionId(plan.session.id)
  return plan.session.kind === "fork"
    ? { session: { kind: "fork", id: from, chosen: uuid() }, isUntold: true }
    : { session: { kind: "continue", id: from }, isUntold: true }
}

const hasAnswered = (attempts: readonly RunAttempt[], id: string): boolean =>
  attempts.some((attempt) => attempt.harnessSessionId === id && attempt.madeProgress === true)
