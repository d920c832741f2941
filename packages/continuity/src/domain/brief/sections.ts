/**
 * The shape of the brief, a literal contract (seed 001): the headings, their order, and the facts under each; and the shape
 * of the pinned part, which has the same facts for every request. `rank` is the order in which bullets are dropped when the
 * budget is short: 1 goes first, `ESSENTIAL` and above go last.
 */
import type { FactKind } from "../fact.ts"
import { TEXT_LIMITS } from "../limits.ts"

export interface Section {
  readonly heading: string
  readonly kinds: readonly FactKind[]
  /** `generic` and `workflow` are always complete. `extra` appears only when such facts were declared. */
  readonly layer: "generic" | "extra" | "workflow"
  /** The most bullets, whatever the budget. */
  readonly limit: number
  /** Which end of a long list is kept. */
  readonly keep: "first" | "newest"
  readonly rank: number
  /** The length to which every bullet is cut. */
  readonly bulletLength: number
  /** The facts are somebody's own words: every line stays a separate line, quoted. */
  readonly isQuote: boolean
}

export const TITLE = "## Stage-Aware Continuation"
export const PREAMBLE =
  "Preserve the canonical workflow names exactly. Treat this as the authoritative resume brief for compaction continuity."
export const AUGMENTATION_TITLE = "## Workflow-Aware Augmentation"
export const AUGMENTATION_PREAMBLE =
  "The following sections apply because this session is part of a canonical workflow. Preserve these fields for workflow continuity."
export const NOTHING = "none recorded"

/** From this rank on a section is essential: it is shortened only when nothing else is left to drop. */
export const ESSENTIAL = 100

const section = (
  layer: Section["layer"],
  heading: string,
  kinds: readonly FactKind[],
  rest: Partial<Omit<Section, "layer" | "heading" | "kinds">> & { readonly rank: number },
): Section => ({
  layer,
  heading,
  kinds,
  limit: 1,
  keep: "first",
  bulletLength: TEXT_LIMITS.bulletLength,
  isQuote: false,
  ...rest,
})

const newest = (limit: number) => ({ limit, keep: "newest" as const })

/** The task as it was given: complete up to this many lines. */
const task = (layer: Section["layer"]): Section =>
  section(layer, "Task", ["task"], {
    rank: 110,
    limit: 40,
    isQuote: true,
    bulletLength: TEXT_LIMITS.taskLength,
  })
const taskChanges = section("extra", "Task, as Changed Since", ["task-change"], {
  rank: 109,
  ...newest(5),
  bulletLength: TEXT_LIMITS.spokenLength,
})
const constraints = section("extra", "User Constraints", ["constraint"], {
  rank: 109,
  ...newest(12),
  bulletLength: TEXT_LIMITS.spokenLength,
})
const request = section("extra", "Latest Request of the User", ["request"], {
  rank: 107,
  limit: 12,
  isQuote: true,
  bulletLength: TEXT_LIMITS.spokenLength,
})
const invented = section("extra", "Not Said by the User", ["invented"], { rank: 111, ...newest(6) })
const commits = section("extra", "Recent Commits", ["commit"], { rank: 6, limit: 3 })

export const SECTIONS: readonly Section[] = [
  section("generic", "Primary Objective", ["objective"], { rank: 105, limit: 3 }),
  section("generic", "Current Step", ["step"], { rank: 13 }),
  section("generic", "Status", ["status"], { rank: 12, limit: 3 }),
  section("generic", "Completed", ["completed"], { rank: 1, ...newest(6) }),
  section("generic", "Remaining", ["remaining", "todo"], { rank: 11, limit: 8 }),
  section("generic", "Decisions", ["decision"], { rank: 100, ...newest(12) }),
  section("generic", "Active Files", ["file"], { rank: 7, ...newest(20) }),
  section("generic", "Blockers / Risks", ["blocker"], { rank: 106, ...newest(8) }),
  section("generic", "Next Action", ["next-action"], { rank: 108 }),
  task("extra"),
  taskChanges,
  constraints,
  section("extra", "Rules", ["rule"], { rank: 99, ...newest(20) }),
  section("extra", "Agent and Skills", ["agent", "mode", "skill"], { rank: 14, limit: 12 }),
  section("extra", "Runs", ["run"], { rank: 15, ...newest(12) }),
  commits,
  section("workflow", "Workflow Type", ["workflow"], { rank: 16 }),
  section("workflow", "Canonical Workflow Stage", ["stage"], { rank: 108, limit: 2 }),
  section("workflow", "Source Artifacts", ["source-artifact"], { rank: 2, limit: 8 }),
  section("workflow", "Current Artifact", ["current-artifact"], { rank: 10 }),
  section("workflow", "Artifact Status", ["artifact-status"], { rank: 9 }),
  section("workflow", "Transition Gate", ["gate"], { rank: 102 }),
  section("workflow", "Approved Decisions", ["approval"], { rank: 5, limit: 8 }),
  section("workflow", "Pending Decisions / Open Questions", ["open-question"], { rank: 8, limit: 6 }),
  section("workflow", "Dependencies / Preconditions", ["precondition"], { rank: 3, limit: 6 }),
  section("workflow", "Verification / Done Criteria", ["done-criterion"], { rank: 4, limit: 6 }),
]

/**
 * What is pinned, the same in every host. What seldom changes comes first and what changes with every step last, so that a
 * change leaves most of the text before it untouched.
 */
export const PINNED_SECTIONS: readonly Section[] = [
  task("extra"),
  taskChanges,
  constraints,
  section("extra", "Primary Objective", ["objective"], { rank: 105, limit: 3 }),
  section("extra", "Agent and Skills", ["agent", "mode", "skill"], { rank: 74, limit: 12 }),
  section("extra", "Rules", ["rule"], { rank: 99, ...newest(20) }),
  section("extra", "Decisions", ["decision"], { rank: 100, ...newest(12) }),
  section("extra", "Open Questions", ["open-question"], { rank: 60, limit: 4 }),
  section("extra", "Canonical Workflow Stage", ["stage"], { rank: 108, limit: 2 }),
  section("extra", "Transition Gate", ["gate"], { rank: 58 }),
  section("extra", "Blockers / Risks", ["blocker"], { rank: 108, ...newest(8) }),
  section("extra", "Current Work", ["focus", "open-work", "pending-tests"], { rank: 80, limit: 6 }),
  request,
  section("extra", "Todo", ["todo"], { rank: 76, limit: 10 }),
  section("extra", "Runs", ["run"], { rank: 78, ...newest(8) }),
  section("extra", "Active Files", ["file"], { rank: 40, ...newest(20) }),
  commits,
  section("extra", "Next Action", ["next-action"], { rank: 108 }),
  section("extra", "Messages of the User", ["user-message"], { rank: 50, ...newest(8), bulletLength: 160 }),
  invented,
]
