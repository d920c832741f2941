/** The lines of a spec workflow. Those of `spec-execute` are literal contracts (seed 001). */
import type { FactList } from "../fact-list.ts"
import { readField, readSections } from "./artifact-notes.ts"
import { readFeatureCount } from "./harness-state.ts"
import { STAGE_DETAILS } from "./stage-details.ts"
import { type Artifacts, documentOf, hasContent, pathOf, placeOf, type SpecStage } from "./stage.ts"
import { readTaskList, type TaskList } from "./task-list.ts"

export const addSpecFacts = (list: FactList, artifacts: Artifacts, stage: SpecStage): void => {
  const context = documentOf(artifacts, "context.md")
  const contextPath = pathOf(artifacts, "context.md")
  addPhases(list, artifacts, stage)
  const tasks = documentOf(artifacts, "tasks.md")
  if (stage !== "spec-execute") addStep(list, artifacts, stage)
  else if (tasks.isCut) addUncounted(list, artifacts, readTaskList(tasks))
  else addExecution(list, artifacts, readTaskList(tasks))
  list.add(
    "completed",
    contextPath,
    readSections(context, (title) => title === "key discoveries").slice(0, 2),
  )
  list.add(
    "decision",
    contextPath,
    readSections(context, (title) => title === "decisions made" || title === "decisions"),
  )
  list.add(
    "blocker",
    contextPath,
    readSections(context, (title) => /^(?:carry-forward )?warnings$/.test(title)),
  )
}

/** Earlier phases whose artifact has content. */
const addPhases = (list: FactList, artifacts: Artifacts, stage: SpecStage): void => {
  const { name } = artifacts
  const behind = placeOf(stage)
  if (behind > 0 && hasContent(artifacts, "requirements.md")) {
    const path = pathOf(artifacts, "requirements.md")
    list.add(
      "completed",
      path,
      "`requirements.md` exists and later-stage artifacts imply the requirements phase is complete.",
    )
    list.add(
      "approval",
      path,
      `${name}: approval of \`requirements.md\` is inferred from the presence of later spec artifacts.`,
    )
  }
  if (behind > 1 && hasContent(artifacts, "design.md")) {
    const path = pathOf(artifacts, "design.md")
    list.add(
      "completed",
      path,
      "`design.md` exists and later-stage artifacts imply design approval was completed.",
    )
    list.add(
      "approval",
      path,
      `${name}: approval of \`design.md\` is inferred from the presence of later spec artifacts.`,
    )
  }
  if (behind > 2 && hasContent(artifacts, "tasks.md")) {
    const path = pathOf(artifacts, "tasks.md")
    list.add("completed", path, "`tasks.md` exists and execution has started.")
    list.add(
      "approval",
      path,
      `${name}: \`tasks.md\` is treated as approved because execution artifacts are present.`,
    )
  }
}

const addExecution = (list: FactList, artifacts: Artifacts, { done, open, batch }: TaskList): void => {
  const { name } = artifacts
  const path = pathOf(artifacts, "tasks.md")
  const next = open[0]
  const counts = `${done.length} task(s) complete and ${open.length} task(s) remaining.`
  const lastBatch = readField(documentOf(artifacts, "context.md"), "Last completed batch")
  const after = lastBatch === undefined ? "" : ` Last completed batch: ${withoutStop(lastBatch)}.`
  list.add("status", path, `${name} is in spec-execute; ${counts}${after}`)
  list.add("completed", path, done)

  const features = readFeatureCount(documentOf(artifacts, "harness/feature_list.json").text)
  const passing = features === undefined ? "" : ` ${features.passing} of ${features.total} feature(s) pass.`
  if (next !== undefined) {
    list.add(
      "step",
      path,
      `Continue the current implementation lane in ${batch ?? "the active batch"}: ${withoutStop(next)}.`,
    )
    list.add("remaining", path, open)
    list.add("next-action", path, `Resume ${name} in spec-execute: ${withoutStop(next)}.`)
    list.add(
      "artifact-status",
      path,
      `${name}: ${done.length} task(s) complete, ${open.length} remaining; next task is ${withoutStop(next)}.${passing}`,
    )
  } else if (done.length > 0) {
    const close = `Ask whether ${name} is ready to be closed.`
    list.add(
      "step",
      path,
      `All tasks of ${name} are complete; confirm the batch validation and ask about closure.`,
    )
    list.add("remaining", path, close)
    list.add("next-action", path, close)
    list.add(
      "artifact-status",
      path,
      `${name}: all ${done.length} task(s) complete; ask whether it is ready to be closed.${passing}`,
    )
  } else {
    const { step } = STAGE_DETAILS["spec-execute"]
    list.add("step", path, step)
    list.add("remaining", path, step)
    list.add("next-action", path, step)
    list.add("artifact-status", path, `${name}: \`tasks.md\` has no checkbox to follow.${passing}`)
  }
}

/** For a list that was not read completely: nothing is counted, and "all done" is never claimed. */
const addUncounted = (list: FactList, artifacts: Artifacts, { open, batch }: TaskList): void => {
  const { name } = artifacts
  const path = pathOf(artifacts, "tasks.md")
  const [next] = open
  const lastBatch = readField(documentOf(artifacts, "context.md"), "Last completed batch")
  const after = lastBatch === undefined ? "" : ` Last completed batch: ${withoutStop(lastBatch)}.`
  list.add(
    "status",
    path,
    `${name} is in spec-execute; \`tasks.md\` is too long to be read whole, its tasks are not counted.${after}`,
  )
  const step =
    next === undefined
      ? `Look in \`tasks.md\` of ${name} for the next open task: it is behind the part that was read.`
      : `Continue the current implementation lane in ${batch ?? "the active batch"}: ${withoutStop(next)}.`
  list.add("step", path, step)
  list.add("remaining", path, next === undefined ? step : open)
  list.add(
    "next-action",
    path,
    next === undefined ? step : `Resume ${name} in spec-execute: ${withoutStop(next)}.`,
  )
  const found =
    next === undefined ? "no open task in the part that was read" : `next task is ${withoutStop(next)}`
  list.add("artifact-status", path, `${name}: \`tasks.md\` was read in part; ${found}.`)
}

const addStep = (list: FactList, artifacts: Artifacts, stage: Exclude<SpecStage, "spec-execute">): void => {
  const { name } = artifacts
  const { step, artifact } = STAGE_DETAILS[stage]
  const path = pathOf(artifacts, artifact)
  list.add("step", path, step)
  list.add(
    "status",
    path,
    `${name} is active in ${stage}; keep its artifact and approval state and do not widen the scope.`,
  )
  list.add("remaining", path, [step, `Keep explicit approval before leaving ${stage}.`])
  list.add("next-action", path, step)
  const state = hasContent(artifacts, artifact)
    ? "is present; confirm its approval from the session"
    : "is not written yet"
  list.add("artifact-status", path, `${name}: \`${artifact}\` ${state}.`)
}

const withoutStop = (text: string): string => (text.endsWith(".") ? text.slice(0, -1) : text)
