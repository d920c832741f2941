/**
 * The stage some lines of a log speak of. A command outweighs what is said in prose, and what is said to be going on
 * outweighs a bare name. Where two stages weigh the same, nobody is asked to guess.
 */
import { candidates, stageMentions, VOCABULARY, type StageMention } from "./stage-mention.ts"
import { kindOf, type Stage, type WorkflowKind } from "./stage.ts"

export type StageReading =
  /** `isOrdered`: by a field or a command, which decides whatever the artifacts say. */
  | { readonly tag: "stage"; readonly stage: Stage; readonly isOrdered: boolean }
  /** Of one workflow, and the log does not say which stage: its artifacts decide. */
  | { readonly tag: "undecided"; readonly kind: WorkflowKind }
  /** Of both workflows: no stage is pinned. */
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
    // Bare names of three stages are a list of what there is.
    if (only === undefined || (weight === "named" && seen.length >= VOCABULARY)) continue
    if (others.length === 0) return { tag: "stage", stage: only, isOrdered: weight === "command" }
    const kinds = new Set(seen.map(kindOf))
    return kinds.size === 1 ? { tag: "undecided", kind: kindOf(only) } : { tag: "between", seen }
  }
  // Only what is done or denied: that tells the workflow, not the stage.
  const kinds = [...new Set(mentioned.flat().map(({ stage }) => kindOf(stage)))]
  const [kind] = kinds
  return kind !== undefined && kinds.length === 1 ? { tag: "undecided", kind } : { tag: "none" }
}

const WEIGHTS = ["command", "now", "next", "named"] as const

const weightOf = ({ isCommand, standing }: StageMention): (typeof WEIGHTS)[number] => {
  if (isCommand) return "command"
  return standing === "named" || standing === "next" ? standing : "now"
}
