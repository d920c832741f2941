/**
 * A session in a canonical workflow as facts. The stage and its artifacts fill the nine generic sections, the session log
 * adds to them, and the ten sections of the augmentation follow.
 */

import { type FactList, startFactList } from "../fact-list.ts"
import type { Fact } from "../fact.ts"
import { approvalOf } from "../session/approval.ts"
import { addCurrentWork, SESSION_SOURCE } from "../session/session-facts.ts"
import { readLinesState, type SessionState } from "../session/session-state.ts"
import { addBugFacts } from "./bug-facts.ts"
import { pathOfFolder, type WorkFolder } from "./moved-work.ts"
import { addSpecFacts } from "./spec-facts.ts"
import { STAGE_DETAILS } from "./stage-details.ts"
import {
  type Artifacts,
  ARTIFACTS_OF,
  type BugStage,
  documentOf,
  pathOf,
  type SpecStage,
  type Stage,
} from "./stage.ts"

export type ActiveWorkflow =
  | { readonly kind: "spec"; readonly stage: SpecStage; readonly artifacts: Artifacts }
  | { readonly kind: "bug"; readonly stage: BugStage; readonly artifacts: Artifacts }

export const workflowFacts = (
  workflow: ActiveWorkflow,
  session: SessionState,
  touched: readonly WorkFolder[] = [],
): readonly Fact[] => {
  const list = startFactList()
  const { kind, stage, artifacts } = workflow
  const details = STAGE_DETAILS[stage]
  const existing = ARTIFACTS_OF[kind].filter((file) => artifacts.files[file] !== undefined)
  const source = pathOf(
    artifacts,
    existing.find((file) => file === details.artifact) ?? existing[0] ?? details.artifact,
  )

  list.add("objective", source, details.objective, "stage")
  // The purpose of the whole session, beside that of the stage.
  if (session.objective !== undefined) list.add("objective", SESSION_SOURCE, session.objective)
  if (workflow.kind === "spec") addSpecFacts(list, artifacts, workflow.stage)
  else addBugFacts(list, artifacts, workflow.stage)
  addSessionFacts(list, session, workflow)
  addCurrentWork(list, session)
  for (const file of existing) list.add("file", pathOf(artifacts, file), pathOf(artifacts, file))

  list.add("workflow", source, kind)
  list.add("stage", source, stage)
  for (const file of existing) list.add("source-artifact", pathOf(artifacts, file), pathOf(artifacts, file))
  if (artifacts.files[details.artifact] !== undefined)
    list.add("current-artifact", source, pathOf(artifacts, details.artifact))
  list.add("gate", source, details.gate)
  addOpenQuestions(list, session, workflow)
  list.add("precondition", source, details.preconditions)
  list.add("done-criterion", source, details.done)
  const elsewhere = touched.filter(({ kind: each, name }) => each !== kind || name !== artifacts.name)
  if (elsewhere.length === 0) return list.facts
  // The reader must say where the work is now: both are named, without a next action.
  list.add("stage", source, movedTo(artifacts, elsewhere), "moved")
  return list.facts.filter(({ kind: each }) => each !== "next-action")
}

const movedTo = ({ name }: Artifacts, elsewhere: readonly WorkFolder[]): string =>
  `The log is about ${name}, but since it was written the tools have worked in ${elsewhere
    .slice(0, 3)
    .map(pathOfFolder)
    .join(", ")}: confirm which one is current before going on.`

/** What the session log knows beyond the workflow. Repetitions are left out. */
const addSessionFacts = (
  list: FactList,
  session: SessionState,
  { artifacts, stage }: ActiveWorkflow,
): void => {
  const beside = (texts: readonly string[], label: string): readonly string[] =>
    texts.filter((text) => !isAboutWorkflow(text, artifacts.name)).map((text) => `${label}: ${text}`)
  list.add("remaining", SESSION_SOURCE, beside(session.openWork, "Open work"))
  list.add("remaining", SESSION_SOURCE, beside(session.nextActions, "Next action"))
  list.add("remaining", SESSION_SOURCE, beside(session.pendingTests, "Pending tests"))
  list.add(
    "decision",
    SESSION_SOURCE,
    session.decisions.filter((line) => approvalOf(line) === undefined),
  )
  list.add("blocker", SESSION_SOURCE, session.blockers)
  const notes = stage.startsWith("spec-") ? "context.md" : "harness/progress.md"
  list.add("blocker", pathOf(artifacts, notes), readLinesState(documentOf(artifacts, notes).lines).blockers)
  list.add("approval", SESSION_SOURCE, session.approvals)
}

const isAboutWorkflow = (text: string, name: string): boolean =>
  text.includes(name) ||
  /(?:spec|bug)-(?:create|design|tasks|execute|analyze|fix|verify)\b/.test(text) ||
  /\b(?:requirements|design|tasks|context|report|analysis|verification)\.md\b|\bbatch \d|\btask \d/i.test(
    text,
  )

const addOpenQuestions = (
  list: FactList,
  session: SessionState,
  { artifacts, stage }: ActiveWorkflow,
): void => {
  const asked = [...session.awaited, ...session.openQuestions]
  list.add("open-question", SESSION_SOURCE, asked)
  const pending = PENDING[stage]
  if (asked.length > 0 || pending === undefined) return
  // An approval to leave exactly this stage. An approval to enter it does not count.
  const { artifact } = STAGE_DETAILS[stage]
  const given = session.approvals.some(
    (line) => line.includes(pending.next) || (stage !== "bug-fix" && line.includes(artifact)),
  )
  if (!given) list.add("open-question", pathOf(artifacts, artifact), pending.question)
}

interface Pending {
  readonly next: Stage
  readonly question: string
}

const approvalToLeave = (stage: Stage, next: Stage): Pending => ({
  next,
  question: `Explicit approval is still needed to leave ${stage}.`,
})

const PENDING = {
  "spec-create": approvalToLeave("spec-create", "spec-design"),
  "spec-design": approvalToLeave("spec-design", "spec-tasks"),
  "spec-tasks": approvalToLeave("spec-tasks", "spec-execute"),
  "spec-execute": undefined,
  "bug-create": approvalToLeave("bug-create", "bug-analyze"),
  "bug-analyze": approvalToLeave("bug-analyze", "bug-fix"),
  "bug-fix": {
    next: "bug-verify",
    question: "Ask for approval to proceed to `bug-verify` when the gates are green.",
  },
  "bug-verify": undefined,
} as const satisfies Record<Stage, Pending | undefined>
