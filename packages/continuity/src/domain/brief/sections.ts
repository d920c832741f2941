/**
 * The shape of the brief, a literal contract (seed 001): headings, their order, and which facts stand under each.
 * `rank` is the order in which bullets go when the budget is short: 1 goes first, `ESSENTIAL` and above go last.
 */
import type { FactKind } from "../fact.ts"

export interface Section {
  readonly heading: string
  readonly kinds: readonly FactKind[]
  /** `generic` and `workflow` are always complete; `extra` appears only when somebody declared such facts. */
  readonly layer: "generic" | "extra" | "workflow"
  /** Bullets at most, whatever the budget. */
  readonly limit: number
  /** Which end of a long list matters. */
  readonly keep: "first" | "newest"
  readonly rank: number
  /** Part of what is pinned to every request. */
  readonly pinned: boolean
}

export const TITLE = "## Stage-Aware Continuation"
export const PREAMBLE =
  "Preserve the canonical workflow names exactly. Treat this as the authoritative resume brief for compaction continuity."
export const AUGMENTATION_TITLE = "## Workflow-Aware Augmentation"
export const AUGMENTATION_PREAMBLE =
  "The following sections apply because this session is part of a canonical workflow. Preserve these fields for workflow continuity."
export const NOTHING = "none recorded"

/** From this rank on a section is essential: it is touched only when nothing else is left to drop. */
export const ESSENTIAL = 100

const section = (
  layer: Section["layer"],
  heading: string,
  kinds: readonly FactKind[],
  rest: Partial<Omit<Section, "layer" | "heading" | "kinds">> & { readonly rank: number },
): Section => ({ layer, heading, kinds, limit: 1, keep: "first", pinned: false, ...rest })

export const SECTIONS: readonly Section[] = [
  section("generic", "Primary Objective", ["objective"], { rank: 105, limit: 2, pinned: true }),
  section("generic", "Current Step", ["step"], { rank: 13 }),
  section("generic", "Status", ["status"], { rank: 12, limit: 3 }),
  section("generic", "Completed", ["completed"], { rank: 1, limit: 6, keep: "newest" }),
  section("generic", "Remaining", ["remaining", "todo"], { rank: 11, limit: 8 }),
  section("generic", "Decisions", ["decision"], { rank: 100, limit: 12, keep: "newest", pinned: true }),
  section("generic", "Active Files", ["file"], { rank: 7, limit: 20, keep: "newest" }),
  section("generic", "Blockers / Risks", ["blocker"], { rank: 101, limit: 8, keep: "newest", pinned: true }),
  section("generic", "Next Action", ["next-action"], { rank: 104, pinned: true }),
  section("extra", "Rules", ["rule"], { rank: 99, limit: 20, keep: "newest", pinned: true }),
  section("extra", "Agent and Skills", ["agent", "skill"], { rank: 14, limit: 12, pinned: true }),
  section("extra", "Runs", ["run"], { rank: 15, limit: 12, keep: "newest", pinned: true }),
  section("workflow", "Workflow Type", ["workflow"], { rank: 16 }),
  section("workflow", "Canonical Workflow Stage", ["stage"], { rank: 103, pinned: true }),
  section("workflow", "Source Artifacts", ["source-artifact"], { rank: 2, limit: 8 }),
  section("workflow", "Current Artifact", ["current-artifact"], { rank: 10 }),
  section("workflow", "Artifact Status", ["artifact-status"], { rank: 9 }),
  section("workflow", "Transition Gate", ["gate"], { rank: 102, pinned: true }),
  section("workflow", "Approved Decisions", ["approval"], { rank: 5, limit: 8 }),
  section("workflow", "Pending Decisions / Open Questions", ["open-question"], { rank: 8, limit: 6 }),
  section("workflow", "Dependencies / Preconditions", ["precondition"], { rank: 3, limit: 6 }),
  section("workflow", "Verification / Done Criteria", ["done-criterion"], { rank: 4, limit: 6 }),
]
