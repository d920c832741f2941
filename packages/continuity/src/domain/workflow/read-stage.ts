/**
 * The stage that some lines of a log mention. A command outweighs prose, and a statement that it is in progress outweighs a
 * bare name. When two stages weigh the same, none is guessed.
 */
import { candidates, stageMentions, VOCABULARY, type StageMention } from "./stage-mention.ts"
import { kindOf, type Stage, type WorkflowKind } from "./stage.ts"

export type StageReading =
  /** `isOrdered`: named by a field or a command, which wins over the artifacts. */
  | { readonly tag: "stage"; readonly stage: Stage; readonly isOrdered: boolean }
  /** One workflow is named but not its stage. The artifacts decide. */
  | { readonly tag: "undecided"; readonly kind: WorkflowKind }
  /** Both workflows are named, so no stage is pinned. */
  | { readonly tag: "between"; readonly seen: readonly Stage[] }
  | { readonly tag: "none" }

export const readStage = (lines: readonly string[]): StageReading => {
  const mentioned = lines.map(stageMentions)
  const possible = mentioned.flatMap(candidates)
  for (const weight of WEIGHTS) {
    const seen = [
      ...new Set(possible.filter((mention) => weightOf(mention) === weight).map(({ stage }) => stage)),
    ]
    const [only, ...others] = seen
    // The bare names of three stages are just a list.
    if (only === undefined || (weight === "named" && seen.length >= VOCABULARY)) continue
    if (others.length === 0) return { tag: "stage", stage: only, isOrdered: weight === "command" }
    const kinds = new Set(seen.map(kindOf))
    return kinds.size === 1 ? { tag: "undecided", kind: kindOf(only) } : { tag: "between", seen }
  }
  // Stages are only done or denied: that shows the workflow, not the stage.
  const kinds = [...new Set(mentioned.flat().map(({ stage }) => kindOf(stage)))]
  const [kind] = kinds
  return kind !== undefined && kinds.length === 1 ? { tag: "undecided", kind } : { tag: "none" }
}

const WEIGHTS = ["command", "now", "next", "named"] as const

const weightOf = ({ isCommand, standing }: StageMention): (typeof WEIGHTS)[number] => {
  if (isCommand) return "command"
  return standing === "named" || standing === "next" ? standing : "now"
}
