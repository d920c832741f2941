/**
 * Which stage the session says it is in. A field comes first, then what the newest entry says is to be done, then the rest
 * of it, then older entries. AGENTS.md describes workflows, so it counts only when it names one stage as the current one.
 */
import type { SessionState } from "../session/session-state.ts"
import { readStage, type StageReading } from "./read-stage.ts"
import { stageMentions } from "./stage-mention.ts"
import type { Stage, WorkflowKind } from "./stage.ts"

export type StageHint =
  | {
      readonly tag: "stage"
      readonly stage: Stage
      /** Named by a field or a command of the newest entry, which wins over the artifacts. */
      readonly isOrdered: boolean
      /** Named by the newest entry. An older entry may not move the work back to an earlier stage. */
      readonly isCurrent: boolean
    }
  | { readonly tag: "undecided"; readonly kind: WorkflowKind }
  | { readonly tag: "between"; readonly seen: readonly Stage[] }

export const findStageHint = (session: SessionState, agents: SessionState): StageHint | undefined => {
  const field = readStage([session.stage ?? ""])
  if (field.tag === "stage") return { ...field, isOrdered: true, isCurrent: true }
  const plan = readStage([...session.nextActions, ...session.openWork])
  if (plan.tag === "stage" || plan.tag === "between") return current(plan)
  for (const [age, lines] of session.scopes.entries()) {
    const reading = readStage(lines)
    if (reading.tag === "none") continue
    if (age === 0) return current(reading)
    if (reading.tag === "stage") return { ...reading, isOrdered: false, isCurrent: false }
  }
  if (plan.tag === "undecided") return plan
  return fromInstructions(agents)
}

const current = (reading: Exclude<StageReading, { readonly tag: "none" }>): StageHint =>
  reading.tag === "stage" ? { ...reading, isCurrent: true } : reading

const fromInstructions = (agents: SessionState): StageHint | undefined => {
  const field = readStage([agents.stage ?? ""])
  const named = new Set(agents.scopes.flat().flatMap((line) => stageMentions(line).map(({ stage }) => stage)))
  const [only] = named
  const stage = field.tag === "stage" ? field.stage : named.size === 1 ? only : undefined
  return stage === undefined ? undefined : { tag: "stage", stage, isOrdered: false, isCurrent: false }
}
