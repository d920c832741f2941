/**
 * A run, folded from its events (`run-record.ts` describes the format). Its status is that of the newest event, with
 * one law: an end written by the run itself (or by a cancel) beats one written by a repair, whichever came first, and
 * nothing beats it.
 */
import type { RunId } from "@meridian/protocol"

import type { CheckEventRecord } from "./check-record.ts"
import type { CheckResult, RunVerdict } from "./check.ts"
import type { Fields } from "./json-line.ts"
import { asMark, type ProcessMark } from "./process-mark.ts"
import type { WrittenRecord } from "./record.ts"
import {
  decodeRunRecord,
  encodeRunRecord,
  type RunEndRecord,
  type RunStartRecord,
  type RunUpdateRecord,
} from "./run-record.ts"
import type { RunStatus, WaitingFor } from "./run-status.ts"
import type { WorktreeEventRecord } from "./worktree-record.ts"
import { applyWorktreeEvent, openWorktree, type RunWorktree, type WorktreeState } from "./worktree.ts"

export interface RunUsage {
  readonly inputTokens?: number | undefined
  readonly cachedInputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly costUsd?: number | undefined
}

export type RunStart = Omit<
  RunStartRecord,
  "event" | "background" | "workerPid" | "workerStarted" | "worktree"
> & {
  readonly background: boolean
  readonly worker?: ProcessMark | undefined
  readonly worktree?: RunWorktree | undefined
}

export type RunEnd = Omit<
  RunEndRecord,
  "event" | "id" | "totalCostUsd" | "sessionInputTokens" | "sessionCachedInputTokens" | "sessionOutputTokens"
> &
  RunUsage & {
    /** Totals of the whole session, if the harness reports totals. The session's next run starts from them. */
    readonly sessionUsage?: RunUsage | undefined
  }

export interface AttemptBegan {
  /** Counts from 1, over all workers of the run. */
  readonly number: number
  readonly harness: string
  readonly model?: string | undefined
  readonly harnessSessionId?: string | undefined
  /** ISO time; "" in an old record. */
  readonly began: string
  /** Why the harness did not get the text that pins the task after a compaction. */
  readonly unpinned?: string | undefined
}

export interface AttemptEnded extends RunUsage {
  readonly number: number
  readonly ended: string
  /** A word: `succeeded`, the class of the failure, `worker_died`, `stalled`, `paused`. */
  readonly why: string
  readonly message?: string | undefined
  readonly turns?: number | undefined
  /** It produced something, so the next attempt does not continue a row of fruitless ones. */
  readonly madeProgress?: boolean | undefined
  /** ISO time when the limit that ended it is over. */
  readonly resetAt?: string | undefined
}

export type RunAttempt = AttemptBegan & Partial<Omit<AttemptEnded, "number">>

export type RunUpdate = Omit<
  RunUpdateRecord,
  | "event"
  | "id"
  | "harnessPid"
  | "harnessStarted"
  | "workerPid"
  | "workerStarted"
  | "attemptBegan"
  | "attemptEnded"
> & {
  readonly harnessProcess?: ProcessMark | undefined
  readonly worker?: ProcessMark | undefined
  readonly attemptBegan?: AttemptBegan | undefined
  readonly attemptEnded?: AttemptEnded | undefined
}

export type Asked = "pause" | "resume" | "stop"

export interface Run extends Omit<RunStart, "status" | "worktree"> {
  readonly status: RunStatus
  readonly worktree?: WorktreeState | undefined
  readonly harnessProcess?: ProcessMark | undefined
  readonly attempts: readonly RunAttempt[]
  /** Newest last. */
  readonly checks?: readonly CheckResult[] | undefined
  readonly waitingFor?: WaitingFor | undefined
  /** ISO time. */
  readonly waitingUntil?: string | undefined
  /** Why it waits or pauses, for people. */
  readonly message?: string | undefined
  /** The request its worker has not answered yet. Only the end answers a stop. */
  readonly asked?: Asked | undefined
  readonly end?: RunEnd | undefined
}

export type RunEvent =
  | ({ readonly event: "start" } & RunStart)
  | ({ readonly event: "update"; readonly id: RunId } & RunUpdate)
  | ({ readonly event: "finalize"; readonly id: RunId } & RunEnd)
  | WorktreeEventRecord
  | CheckEventRecord

export const isEnded = (run: Pick<Run, "end">): boolean => run.end !== undefined

/** Undefined for lines that are not events of a run. Throws RECORD_NEWER. */
export const decodeRunEvent = (fields: Fields, file: string): RunEvent | undefined => {
  const record = decodeRunRecord(fields, file)
  if (record === undefined) return undefined
  switch (record.event) {
    case "start":
      return startOf(record)
    case "update":
      return updateOf(record)
    case "finalize":
      return endOf(record)
    case "worktree":
    case "check":
      return record
  }
}

export const encodeRunStart = ({ worker, background, ...start }: RunStart): WrittenRecord =>
  encodeRunRecord({
    event: "start",
    ...start,
    background: background ? true : undefined,
    workerPid: worker?.pid,
    workerStarted: worker?.started,
  })

export const encodeRunUpdate = (id: RunId, update: RunUpdate): WrittenRecord => {
  const { harnessProcess, worker, attemptBegan, attemptEnded, ...rest } = update
  return encodeRunRecord({
    event: "update",
    id,
    ...rest,
    harnessPid: harnessProcess?.pid,
    harnessStarted: harnessProcess?.started,
    workerPid: worker?.pid,
    workerStarted: worker?.started,
    attemptBegan: attemptBegan === undefined ? undefined : present(attemptBegan),
    attemptEnded: attemptEnded === undefined ? undefined : writtenUsage(attemptEnded),
  })
}

export const encodeRunEnd = (id: RunId, { sessionUsage, ...end }: RunEnd): WrittenRecord =>
  encodeRunRecord({
    event: "finalize",
    id,
    ...writtenUsage(end),
    sessionInputTokens: sessionUsage?.inputTokens,
    sessionCachedInputTokens: sessionUsage?.cachedInputTokens,
    sessionOutputTokens: sessionUsage?.outputTokens,
  })

/** Applies one event to what is known of its run. An update or end of a run that never started means nothing. */
export const applyRunEvent = (run: Run | undefined, event: RunEvent): Run | undefined => {
  if (event.event === "start") {
    const { event: _, worktree, ...start } = event
    return (
      run ?? {
        ...start,
        attempts: [],
        worktree: worktree === undefined ? undefined : openWorktree(worktree),
      }
    )
  }
  if (run === undefined) return undefined
  if (event.event === "worktree")
    return run.worktree === undefined ? run : { ...run, worktree: applyWorktreeEvent(run.worktree, event) }
  if (event.event === "check") {
    const { event: _, id: __, ...result } = event
    return { ...run, checks: [...(run.checks ?? []), result].slice(-MOST_KEPT_CHECKS) }
  }
  if (event.event === "update") return updated(run, event)
  const { event: _, id: __, ...end } = event
  if (run.end !== undefined && (run.end.by !== "repair" || end.by === "repair")) return run
  return { ...run, status: end.status, end }
}

/** Applying a run again and again adds some each time. */
const MOST_KEPT_CHECKS = 500

/** What is known about its claim to be done. Undefined if it made none. */
export const verdictOf = ({ end }: Pick<Run, "end">): RunVerdict | undefined =>
  end?.verdict ?? (end?.status === "succeeded" ? "unverified" : undefined)

/** Runs in the order they started. */
export const replayRuns = (events: Iterable<RunEvent>): readonly Run[] => {
  const runs = new Map<RunId, Run>()
  for (const event of events) {
    const run = applyRunEvent(runs.get(event.id), event)
    if (run !== undefined) runs.set(event.id, run)
  }
  return [...runs.values()]
}

/** The session totals after the run that ended last, if its harness reported them. */
export const sessionUsageIn = (runs: readonly Run[], harnessSession: string): RunUsage | undefined =>
  runs.findLast((run) => run.harnessSessionId === harnessSession && run.end?.sessionUsage !== undefined)?.end
    ?.sessionUsage

const updated = (run: Run, event: Extract<RunEvent, { event: "update" }>): Run => {
  if (run.end !== undefined) return run
  const isMoved = event.status !== undefined
  return {
    ...run,
    status: event.status ?? run.status,
    harness: event.harness ?? run.harness,
    model: event.model ?? run.model,
    harnessSessionId:
      event.harnessSessionId ?? (event.harness === undefined ? run.harnessSessionId : undefined),
    harnessProcess: event.harnessProcess ?? run.harnessProcess,
    worker: event.worker ?? run.worker,
    attempts: withAttempt(run.attempts, event),
    // A new status says what the run waits for, if anything, and answers the open request.
    waitingFor: isMoved ? event.waitingFor : run.waitingFor,
    waitingUntil: isMoved ? event.waitingUntil : run.waitingUntil,
    message: isMoved ? event.message : run.message,
    asked: run.asked === "stop" ? "stop" : (event.asked ?? (isMoved ? undefined : run.asked)),
  }
}

const withAttempt = (
  attempts: readonly RunAttempt[],
  { attemptBegan, attemptEnded, harnessSessionId }: RunUpdate,
): readonly RunAttempt[] => {
  const begun: readonly RunAttempt[] =
    attemptBegan === undefined
      ? attempts
      : [...attempts.filter(({ number }) => number !== attemptBegan.number), attemptBegan]
  if (attemptEnded !== undefined)
    return begun.map((attempt) =>
      attempt.number === attemptEnded.number ? { ...attempt, ...attemptEnded } : attempt,
    )
  const open = begun.at(-1)
  // The id became known during the attempt.
  return harnessSessionId === undefined || open === undefined || open.ended !== undefined
    ? begun
    : [...begun.slice(0, -1), { ...open, harnessSessionId }]
}

const startOf = ({ event, background, workerPid, workerStarted, ...start }: RunStartRecord): RunEvent => ({
  event,
  ...start,
  background: background === true,
  worker: asMark(workerPid, workerStarted),
})

const updateOf = (record: RunUpdateRecord): RunEvent => {
  const { harnessPid, harnessStarted, workerPid, workerStarted, attemptEnded, ...update } = record
  return {
    ...update,
    harnessProcess: asMark(harnessPid, harnessStarted),
    worker: asMark(workerPid, workerStarted),
    attemptEnded: attemptEnded === undefined ? undefined : readUsage(attemptEnded),
  }
}

const endOf = (record: RunEndRecord): RunEvent => {
  const { sessionInputTokens, sessionCachedInputTokens, sessionOutputTokens, ...end } = record
  return {
    ...readUsage(end),
    sessionUsage:
      sessionInputTokens === undefined
        ? undefined
        : {
            inputTokens: sessionInputTokens,
            cachedInputTokens: sessionCachedInputTokens,
            outputTokens: sessionOutputTokens,
          },
  }
}

/** On disk the cost has the name that other programs know. */
const writtenUsage = <T extends RunUsage>({
  costUsd,
  ...rest
}: T): Present<Omit<T, "costUsd">> & { readonly totalCostUsd?: number } => ({
  ...present(rest),
  ...(costUsd === undefined ? {} : { totalCostUsd: costUsd }),
})

const readUsage = <T extends { readonly totalCostUsd?: number | undefined }>({
  totalCostUsd,
  ...rest
}: T): Omit<T, "totalCostUsd"> & { readonly costUsd: number | undefined } => ({
  ...rest,
  costUsd: totalCostUsd,
})

type Present<T> = { readonly [Key in keyof T]: Exclude<T[Key], undefined> }

const present = <T extends object>(value: T): Present<T> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every undefined was just removed
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Present<T>

/** The newest attempts in a row that the run's current harness made. */
export const ownAttempts = ({
  attempts,
  harness,
}: Pick<Run, "attempts" | "harness">): readonly RunAttempt[] =>
  // A record from before attempts had one names no harness.
  attempts.slice(
    attempts.findLastIndex((attempt) => attempt.harness !== "" && attempt.harness !== harness) + 1,
  )

/** Attempts at the end of the row that produced nothing: a resume must not repeat these forever. */
export const fruitlessAttempts = (run: Pick<Run, "attempts" | "harness">): number => {
  const attempts = ownAttempts(run)
  const last = attempts.findLastIndex((attempt) => attempt.madeProgress === true)
  return attempts.length - 1 - last
}

/**
 * Attempts at the end of the row that soon stalled. One that had worked for longer than its final silence begins a
 * new row.
 */
export const stallsInRow = (run: Pick<Run, "attempts" | "harness">, stallMs: number): number => {
  const attempts = ownAttempts(run)
  const last = attempts.findLastIndex(
    ({ why, began, ended }) =>
      why !== "stalled" || Date.parse(ended ?? "") - Date.parse(began) >= 2 * stallMs + LOOKED_LATE_MS,
  )
  return attempts.length - 1 - last
}

/**
 * Attempts at the end of the row that soon broke off for a reason that may pass, whatever they said before. Each may cost
 * tokens, so a server that breaks off every answer is asked less and less often.
 */
export const breaksInRow = (run: Pick<Run, "attempts" | "harness">): number => {
  const attempts = ownAttempts(run)
  const last = attempts.findLastIndex(
    ({ why, began, ended }) =>
      (why !== "connection" && why !== "server_error") ||
      Date.parse(ended ?? "") - Date.parse(began) >= LONG_WORK_MS,
  )
  return attempts.length - 1 - last
}

/** An attempt that worked for so long shows that the way to its server is good again. */
const LONG_WORK_MS = 10 * 60_000

/** Silence is noticed up to a second or so late. */
const LOOKED_LATE_MS = 5_000
