/** The lines of a bug workflow. Those of `bug-fix` are literal contracts (seed 001). */
import type { FactList } from "../fact-list.ts"
import { firstStatement, readBullets, readSections } from "./artifact-notes.ts"
import { readBugState } from "./harness-state.ts"
import { STAGE_DETAILS } from "./stage-details.ts"
import { type Artifacts, type BugStage, documentOf, hasContent, pathOf, placeOf } from "./stage.ts"

export const addBugFacts = (list: FactList, artifacts: Artifacts, stage: BugStage): void => {
  const { name } = artifacts
  const { step, artifact } = STAGE_DETAILS[stage]
  const path = pathOf(artifacts, artifact)
  const progress = documentOf(artifacts, "harness/progress.md")
  const progressPath = pathOf(artifacts, "harness/progress.md")
  const note = firstStatement(progress)

  list.add("step", path, step)
  if (note === undefined)
    list.add("status", path, `${name} is active in ${stage}; keep to the minimal-fix workflow.`)
  else list.add("status", progressPath, `${name} is in ${stage}; harness progress notes: ${note}`)
  addPhases(list, artifacts, stage)
  list.add("completed", progressPath, readBullets(progress))
  list.add("remaining", path, [step, `Preserve explicit workflow approval semantics around ${stage}.`])
  list.add(
    "decision",
    pathOf(artifacts, "analysis.md"),
    readSections(documentOf(artifacts, "analysis.md"), isDecisionTitle),
  )
  list.add(
    "next-action",
    path,
    stage === "bug-fix"
      ? `Implement the approved minimal fix for ${name}, add regression coverage, and prepare the hand-off to bug-verify.`
      : step,
  )
  const state = readBugState(documentOf(artifacts, "harness/bug_state.json").text)
  list.add(
    "artifact-status",
    path,
    `${name}: ${state.note ?? note ?? state.status ?? presence(artifacts, stage)}`,
  )
}

const addPhases = (list: FactList, artifacts: Artifacts, stage: BugStage): void => {
  const { name } = artifacts
  const behind = placeOf(stage)
  if (behind > 0 && hasContent(artifacts, "report.md")) {
    const path = pathOf(artifacts, "report.md")
    list.add(
      "completed",
      path,
      "`report.md` exists and the bug is documented well enough to move beyond `bug-create`.",
    )
    list.add(
      "approval",
      path,
      `${name}: approval of \`report.md\` is inferred from the presence of later bug artifacts.`,
    )
  }
  if (behind > 1 && hasContent(artifacts, "analysis.md")) {
    const path = pathOf(artifacts, "analysis.md")
    list.add(
      "completed",
      path,
      "`analysis.md` exists and later-stage artifacts imply the fix plan was approved.",
    )
    list.add(
      "approval",
      path,
      `${name}: approval of \`analysis.md\` is inferred from the presence of later bug artifacts.`,
    )
  }
  if (behind > 2) {
    const path = pathOf(artifacts, "verification.md")
    if (hasContent(artifacts, "verification.md"))
      list.add("completed", path, "`verification.md` exists and holds evidence.")
    list.add("approval", path, `${name}: the fix is taken as far enough along to be verified.`)
  }
}

/** `## Decision`, `## Decisions`, `## Risks / Trade-offs`, `### Risks and Trade-offs`. */
const isDecisionTitle = (title: string): boolean =>
  /^(?:decisions?(?: made)?|risks? ?(?:\/|&|and) ?trade-?offs?|trade-?offs)$/.test(title)

const presence = (artifacts: Artifacts, stage: BugStage): string => {
  const { artifact } = STAGE_DETAILS[stage]
  return hasContent(artifacts, artifact)
    ? `\`${artifact}\` is present; its confirmation may still be needed.`
    : `\`${artifact}\` is not written yet.`
}
