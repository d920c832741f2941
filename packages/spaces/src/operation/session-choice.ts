/**
 * In which conversation of the harness the next attempt goes on. One in which something was said or done is continued; one in
 * which nothing was is begun again, with the whole prompt. Pure.
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
  readonly attempts: readonly RunAttempt[]
  readonly harness: Pick<Harness, "capabilities">
  readonly begin: "go-on" | "anew"
  readonly uuid: () => string
}): ChosenSession => {
  const { plan, attempts, harness, begin, uuid } = options
  const own =
    begin === "anew" ? undefined : attempts.findLast((attempt) => attempt.harnessSessionId !== undefined)
  const id = own?.harnessSessionId
  // It takes up its session by the same words: what was done is not done again, and nothing has to be said about it.
  if (harness.capabilities.reopenSession && plan.session.kind === "new")
    return { session: { kind: "new", chosen: id ?? uuid() }, isUntold: true }
  if (
    id !== undefined &&
    attempts.some((attempt) => attempt.harnessSessionId === id && attempt.madeProgress === true)
  )
    return { session: { kind: "continue", id: harnessSessionId(id) }, isUntold: false }
  if (plan.session.kind === "continue")
    return { session: { kind: "continue", id: harnessSessionId(plan.session.id) }, isUntold: true }
  // A chosen id can be used once with most harnesses, so every attempt at a new conversation chooses another.
  return plan.session.kind === "fork"
    ? { session: { kind: "fork", id: harnessSessionId(plan.session.id), chosen: uuid() }, isUntold: true }
    : { session: { kind: "new", chosen: uuid() }, isUntold: true }
}
