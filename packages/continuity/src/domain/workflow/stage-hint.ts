/** Which stage the session says it is in: a field first, then prose of the newest entry, then of older ones. */
import type { SessionState } from "../session/session-state.ts"
import { mentionedStages } from "./stage-mention.ts"
import type { Stage } from "./stage.ts"

export interface StageHint {
  readonly stage: Stage
  /** Said by the newest entry. An older word may not take the work back to an earlier stage. */
  readonly current: boolean
}

export const findStageHint = (session: SessionState, agents: SessionState): StageHint | undefined => {
  const declared = lastStage([session.stage ?? ""])
  if (declared !== undefined) return { stage: declared, current: true }
  for (const [age, lines] of session.scopes.entries()) {
    const stage = lastStage(lines)
    if (stage !== undefined) return { stage, current: age === 0 }
  }
  // AGENTS.md describes workflows; it counts when it names one stage as the present one, or only one at all.
  const named = new Set(agents.scopes.flat().flatMap(mentionedStages))
  const stage = lastStage([agents.stage ?? ""]) ?? (named.size === 1 ? [...named][0] : undefined)
  return stage === undefined ? undefined : { stage, current: false }
}

const lastStage = (lines: readonly string[]): Stage | undefined => {
  for (const line of lines.toReversed()) {
    const stage = mentionedStages(line).at(-1)
    if (stage !== undefined) return stage
  }
  return undefined
}
