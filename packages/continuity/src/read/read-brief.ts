/** The entry point for the plugin, the engine and `meridian brief`: reads a project and reports what must survive. */
import type { Attachment } from "../domain/brief/attachment.ts"
import { renderSettledBrief } from "../domain/brief/render-brief.ts"
import { type PinnedOptions, renderSettledPinned } from "../domain/brief/render-pinned.ts"
import { appendFacts, DEFAULT_SOURCE, type Fact, settleFacts } from "../domain/fact.ts"
import { CONVERSATION } from "../domain/ledger/ledger-facts.ts"
import { type ReadLimits, TEXT_LIMITS } from "../domain/limits.ts"
import { SESSION_SOURCE, sessionFacts } from "../domain/session/session-facts.ts"
import {
  readInstructions,
  readSessionState,
  type SessionState,
  withFallback,
} from "../domain/session/session-state.ts"
import { sanitizeLine } from "../domain/text/sanitize-line.ts"
import { type TouchedFile, touchedFolders } from "../domain/workflow/moved-work.ts"
import { findMentions } from "../domain/workflow/rank-folders.ts"
import { readStage } from "../domain/workflow/read-stage.ts"
import { findStageHint, type StageHint } from "../domain/workflow/stage-hint.ts"
import { type ActiveWorkflow, workflowFacts } from "../domain/workflow/workflow-facts.ts"
import { type GuardedReader, openGuardedReader } from "./guarded-reader.ts"
import { openReadBudget } from "./read-budget.ts"
import { readWorkflow } from "./read-workflow.ts"

export interface ReadBriefOptions {
  readonly root: string
  readonly maxTokens?: number
  /** Files that the tools have touched, relative to the root: the work may have moved on since the log was written. */
  readonly touched?: readonly TouchedFile[]
  /** Texts of rules and skills that accompany the pinned part while there is room. */
  readonly attachments?: readonly Attachment[]
  /** How the pinned part begins. */
  readonly head?: PinnedOptions["head"]
  readonly note?: PinnedOptions["note"]
  /** For an agent, phrases that only fill a gap are left out, because nobody said them. */
  readonly reader?: "person" | "agent"
  /**
   * What the caller knows beyond the files (its log, its working set). Newer than the files: a single value replaces
   * theirs.
   */
  readonly facts?: readonly Fact[]
  readonly limits?: Partial<ReadLimits>
  readonly clock?: () => number
}

export type BriefMode = "generic" | `workflow:spec/${string}` | `workflow:bug/${string}`

export interface Brief {
  readonly text: string
  /** The part for every later request; empty when nothing is known. */
  readonly pinned: string
  readonly mode: BriefMode
  /** The current artifact of the workflow, relative to the root. */
  readonly artifact: string | undefined
  readonly facts: readonly Fact[]
  /** Facts that did not fit into the text. */
  readonly leftOut: number
  /** What exists but could not be used, one line each. */
  readonly warnings: readonly string[]
}

/** Never throws. An unreadable tree gives the brief of an empty one, with warnings. */
export const readBrief = async (options: ReadBriefOptions): Promise<Brief> => {
  const warnings: string[] = []
  const warn = (warning: string): void => {
    if (warnings.length < MAX_WARNINGS) warnings.push(sanitizeLine(warning))
  }
  const reader = openGuardedReader(
    options.root,
    openReadBudget({
      ...(options.limits === undefined ? {} : { limits: options.limits }),
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    }),
  )
  if (reader.root === undefined) warn("the root is not a folder")
  const written = readText(reader, "SESSION.md", warn)
  const log = readSessionState(written.text)
  const instructions = readInstructions(readText(reader, "AGENTS.md", warn).text)
  const session = withFallback(log, instructions)
  const given = options.facts ?? []
  const hint = declaredStage(given) ?? findStageHint(log, instructions)
  const touched = touchedFolders(options.touched ?? [], written.modifiedMs)
  const workflow = readWorkflow({ reader, session, hint, touched, warn })
  const read =
    workflow === undefined
      ? [...sessionFacts(session), ...betweenFacts(hint)]
      : workflowFacts(workflow, session, isNamedBy(session, workflow) ? touched : [])
  const facts = settleFacts(appendFacts(withTask(read, given), given.filter(holdsBeside(read, workflow))))
  const limits = options.maxTokens === undefined ? {} : { maxTokens: options.maxTokens }
  const told = options.reader === "agent" ? facts.filter(({ source }) => source !== DEFAULT_SOURCE) : facts
  const rendered = renderSettledBrief(told, limits)
  const { attachments, head, note } = options
  const pinned = renderSettledPinned(facts, {
    ...limits,
    ...(attachments === undefined ? {} : { attachments }),
    ...(head === undefined ? {} : { head }),
    ...(note === undefined ? {} : { note }),
  })
  return {
    text: rendered.text,
    pinned: pinned.text,
    mode: workflow === undefined ? "generic" : modeOf(workflow),
    artifact: artifactOf(facts),
    facts,
    leftOut: rendered.leftOut,
    warnings,
  }
}

const MAX_WARNINGS = 20

/** A canonical stage from the caller counts like one from the newest entry: its artifacts must exist. */
const declaredStage = (facts: readonly Fact[]): StageHint | undefined => {
  const said = settleFacts(facts).find(({ kind }) => kind === "stage")
  const reading = said === undefined ? undefined : readStage([said.text])
  return reading?.tag === "stage" ? { ...reading, isOrdered: false, isCurrent: true } : undefined
}

/** Work can only move away from a spec that the log names. */
const isNamedBy = ({ scopes }: SessionState, { kind, artifacts: { name } }: ActiveWorkflow): boolean => {
  const { named, pointedAt } = findMentions(scopes)
  return named(name) !== undefined || pointedAt(kind, name) !== undefined
}

/** Two workflows are mentioned, and it is unclear which is current. The reader must know that. */
const betweenFacts = (hint: StageHint | undefined): readonly Fact[] => {
  if (hint?.tag !== "between") return []
  const text = `The log speaks of ${hint.seen.join(" and ")} and does not say which is current: ask before going on.`
  return [
    { kind: "status", text, source: SESSION_SOURCE, order: 0, key: "between" },
    { kind: "open-question", text, source: SESSION_SOURCE, order: 0 },
  ]
}

/**
 * The caller's facts hold beside those of the files, with two exceptions. In a workflow the stage and its gate belong
 * together: a caller may choose the stage, not rename it. And a next action that was only said is older than one that is
 * written down.
 */
const holdsBeside = (read: readonly Fact[], workflow: ActiveWorkflow | undefined) => {
  const isWritten = read.some(({ kind, source }) => kind === "next-action" && source !== DEFAULT_SOURCE)
  return ({ kind, source }: Fact): boolean => {
    if (kind === "next-action" && source === CONVERSATION) return !isWritten
    return workflow === undefined || (kind !== "stage" && kind !== "gate")
  }
}

/** A session without a written objective is about its task. */
const withTask = (read: readonly Fact[], given: readonly Fact[]): readonly Fact[] => {
  const task = given.findLast(({ kind }) => kind === "task")
  return task === undefined
    ? read
    : read.map((fact) =>
        fact.kind === "objective" && fact.source === DEFAULT_SOURCE ? { ...fact, text: task.text } : fact,
      )
}

const modeOf = ({ kind, stage }: ActiveWorkflow): BriefMode =>
  kind === "spec" ? `workflow:spec/${stage}` : `workflow:bug/${stage}`

const artifactOf = (facts: readonly Fact[]): string | undefined => {
  const fact = facts.find(({ kind }) => kind === "current-artifact")
  return fact === undefined ? undefined : sanitizeLine(fact.text, TEXT_LIMITS.pathLength)
}

/** Reads both ends of a file that is too large: which end is newer depends on the log. */
const readText = (
  reader: GuardedReader,
  path: string,
  warn: (warning: string) => void,
): { readonly text: string; readonly modifiedMs: number | undefined } => {
  const outcome = reader.read(path, { part: "ends" })
  if (outcome.kind === "refused") warn(`${path}: ${outcome.reason}`)
  if (outcome.kind !== "text") return { text: "", modifiedMs: undefined }
  if (outcome.truncated) warn(`${path}: too large, only a part was read`)
  return outcome
}
