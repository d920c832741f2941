/** A run as its readers get it. */
import { existsSync } from "node:fs"
import { basename, join } from "node:path"

import { isGreen } from "../domain/check.ts"
import { decodeLine, text } from "../domain/json-line.ts"
import { LIMIT } from "../domain/limit.ts"
import { verdictOf, type Run, type RunAttempt } from "../domain/run.ts"
import type { WorktreeState } from "../domain/worktree.ts"
import { readDocument } from "../store/document.ts"
import { scanLines } from "../store/log-lines.ts"
import { runPlace, type SpacePlace } from "../store/place.ts"
import type { CheckDocument, WorktreeDocument } from "./hands-fields.ts"
import { usageOf } from "./run-outcome.ts"
import type { AttemptDocument, RunDocument } from "./run-schema.ts"

const SUMMARY_CHARACTERS = 500

export const runDocument = (
  space: SpacePlace,
  run: Run,
  include: { readonly report?: boolean; readonly files?: boolean; readonly summary?: boolean } = {},
): RunDocument => {
  const files = runPlace(space, run.id)
  const hasReport = existsSync(files.report)
  const report = include.report === true || include.summary === true ? readReport(space, run) : undefined
  // For an open run, the usage of its attempts so far.
  const used = run.end ?? usageOf(run.attempts)
  return sparse({
    run_id: run.id,
    space_id: space.id,
    status: run.status,
    model: run.model,
    harness: run.harness,
    chat_id: run.chatId,
    parent_run_id: run.parentRunId,
    continued_from: run.continuedFrom,
    firing: run.firing,
    agent: run.agent,
    skills: run.skills.length === 0 ? undefined : run.skills,
    background: run.background ? true : undefined,
    cwd: run.cwd,
    harness_session_id: run.harnessSessionId,
    waiting_for: run.waitingFor,
    waiting_until: run.waitingUntil,
    started_at: run.startedAt === "" ? undefined : run.startedAt,
    finished_at: run.end?.finishedAt,
    duration_secs: run.end?.durationSecs,
    exit_code: run.end?.exitCode,
    attempts: run.attempts.length === 0 ? undefined : run.attempts.map(attemptDocument),
    failure_reason: run.end?.error,
    message: run.end === undefined ? run.message : run.end.message,
    input_tokens: used?.inputTokens,
    cached_input_tokens: used?.cachedInputTokens,
    output_tokens: used?.outputTokens,
    cost_usd: used?.costUsd,
    report_path: hasReport ? files.report : undefined,
    report_summary: include.summary === true ? report?.slice(0, SUMMARY_CHARACTERS) : undefined,
    report: include.report === true ? report : undefined,
    files_touched: include.files === true ? filesTouched(space, run) : undefined,
    worktree: run.worktree === undefined ? undefined : worktreeDocument(run.worktree),
    sandbox: run.sandbox,
    contest_id: run.contest,
    besides: run.besides,
    verdict: verdictOf(run),
    changed_check_files: run.end?.changedCheckFiles,
  })
}

/** Every check that ran, oldest first. Undefined for a run without any. */
export const checkDocuments = (
  space: SpacePlace,
  { id, checks }: Run,
): readonly CheckDocument[] | undefined =>
  checks?.map((check) =>
    sparse({
      command: check.command,
      place: check.place,
      attempt: check.attempt,
      ended: check.why,
      green: isGreen(check),
      exit_code: check.exitCode,
      duration_secs: check.durationSecs,
      at: check.at,
      output: check.output,
      log_path: join(runPlace(space, id).directory, basename(check.log)),
    }),
  )

const worktreeDocument = ({ path, branch, base, state, commit, kept }: WorktreeState): WorktreeDocument =>
  sparse({ path, branch, base, state, commit, kept })

const attemptDocument = (attempt: RunAttempt): AttemptDocument =>
  sparse({
    harness: attempt.harness,
    session: attempt.harnessSessionId,
    began: attempt.began,
    ended: attempt.ended,
    why: attempt.why,
    message: attempt.message,
    cost_usd: attempt.costUsd,
    unpinned: attempt.unpinned,
  })

export const readReport = (space: SpacePlace, run: Pick<Run, "id">): string | undefined => {
  const report = readDocument(runPlace(space, run.id).report, LIMIT.reportBytes)?.trim()
  return report === "" ? undefined : report
}

/** Under the names the harness gave, without duplicates, in the order they were first written. */
export const filesTouched = (space: SpacePlace, run: Pick<Run, "id">): readonly string[] => {
  const paths = new Set<string>()
  scanLines(runPlace(space, run.id).events, (line) => {
    if (line === undefined || !line.includes('"file"')) return
    const event = decodeLine(line)
    const path = event?.["type"] === "file" ? text(event, "path") : undefined
    if (path !== undefined) paths.add(path)
  })
  return [...paths]
}

type Present<T> = { [Key in keyof T]: Exclude<T[Key], undefined> }

/** Drops keys without a value. */
export const sparse = <T extends object>(document: T): Present<T> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every undefined was just removed
  Object.fromEntries(Object.entries(document).filter(([, value]) => value !== undefined)) as Present<T>

/** If the harness chose, the record has no model. The text must not look like a model's name. */
export const modelName = (model: string, harness: string): string =>
  model === "" ? `chosen by ${harness}` : model

export const seconds = (value: number | undefined): string =>
  value === undefined ? "-" : `${value.toFixed(1)}s`

export const dollars = (value: number | undefined, digits: number): string =>
  value === undefined ? "-" : `$${value.toFixed(digits)}`
