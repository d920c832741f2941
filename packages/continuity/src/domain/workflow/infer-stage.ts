/**
 * The stage of a workflow, inferred from its artifacts. Conservative: a later stage needs a sign that it was entered, not
 * only the artifact it starts from. A fresh tasks.md is still `spec-tasks`; an analysis.md alone is still `bug-analyze`.
 */
import { readField, readSections } from "./artifact-notes.ts"
import { readBugState, readFeatureCount } from "./harness-state.ts"
import type { StageHint } from "./stage-hint.ts"
import { stageMentions } from "./stage-mention.ts"
import type { Standing } from "./stage-standing.ts"
import {
  type Artifacts,
  ARTIFACTS_OF,
  type BugStage,
  documentOf,
  hasContent,
  kindOf,
  placeOf,
  type SpecStage,
  type Stage,
} from "./stage.ts"
import { readTaskList } from "./task-list.ts"

/** The stage of a folder; undefined when no workflow is active there. */
export const decideStage = (artifacts: Artifacts, hint: StageHint | undefined): Stage | undefined => {
  const inferred = artifacts.kind === "spec" ? inferSpecStage(artifacts) : inferBugStage(artifacts)
  const own = hint?.tag === "stage" && kindOf(hint.stage) === artifacts.kind ? hint : undefined
  if (own?.isOrdered === true) return own.stage
  if (
    own !== undefined &&
    supports(artifacts, own.stage) &&
    (own.isCurrent || placeOf(own.stage) > placeOf(inferred))
  )
    return own.stage
  const begun = ARTIFACTS_OF[artifacts.kind].some((file) => hasContent(artifacts, file))
  return begun ? inferred : undefined
}

const inferSpecStage = (artifacts: Artifacts): SpecStage => {
  if (hasStarted(artifacts)) return "spec-execute"
  if (hasContent(artifacts, "tasks.md")) return "spec-tasks"
  if (hasContent(artifacts, "design.md")) return "spec-design"
  return "spec-create"
}

/** A task is done, a feature passes, or there are notes on a batch. */
const hasStarted = (artifacts: Artifacts): boolean => {
  const context = documentOf(artifacts, "context.md")
  const batches = /\[batch \d/i.test(context.text) || readField(context, "Last completed batch") !== undefined
  const notes = readSections(context, (title) => title === "key discoveries" || title === "decisions made")
  if (batches || notes.length > 0 || readField(context, "Remaining batches") !== undefined) return true
  if ((readFeatureCount(documentOf(artifacts, "harness/feature_list.json").text)?.passing ?? 0) > 0)
    return true
  return readTaskList(documentOf(artifacts, "tasks.md")).done.length > 0
}

const inferBugStage = (artifacts: Artifacts): BugStage => {
  const progress = documentOf(artifacts, "harness/progress.md")
  const state = readBugState(documentOf(artifacts, "harness/bug_state.json").text).stage
  const said = new Set<Stage | undefined>([...progress.lines.flatMap(({ text }) => entered(text)), state])
  if (hasContent(artifacts, "verification.md") || said.has("bug-verify")) return "bug-verify"
  if (said.has("bug-fix")) return "bug-fix"
  return hasContent(artifacts, "analysis.md") ? "bug-analyze" : "bug-create"
}

/** The stages that a progress line says were entered. A finished stage was entered, too. */
const entered = (line: string): readonly Stage[] =>
  stageMentions(line).flatMap(({ stage, standing }) => (ENTERED.has(standing) ? [stage] : []))

const ENTERED: ReadonlySet<Standing> = new Set<Standing>(["now", "named", "done"])

/** Whether the files that a stage works on exist: a word in prose does not make a stage. */
const supports = (artifacts: Artifacts, stage: Stage): boolean => {
  const needed = SUPPORT[stage]
  return needed.length === 0 || needed.some((file) => hasContent(artifacts, file))
}

const SUPPORT = {
  "spec-create": [],
  "spec-design": ["requirements.md", "design.md"],
  "spec-tasks": ["design.md", "tasks.md"],
  "spec-execute": ["tasks.md"],
  "bug-create": [],
  "bug-analyze": ["report.md", "analysis.md"],
  "bug-fix": ["analysis.md"],
  "bug-verify": ["analysis.md", "verification.md"],
} as const satisfies Record<Stage, readonly (typeof ARTIFACTS_OF)["spec" | "bug"][number][]>
