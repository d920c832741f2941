/**
 * `runs.jsonl`, one event a line, each with `"v":1`:
 *
 *   start     what a run is: id, model, harness, agent, skills, working directory, parent, its worker (pid and start time)
 *   update    what became known: `status` running after queued, the harness's session id and process, the attempt
 *   finalize  how it ended: status, exit code, usage, `error`; `by` says who wrote it
 *
 * The prompt is not here but in `runs/<id>/prompt.md`. A run has the status of its last word, with one law: an end
 * written by the run itself (or by a cancel) beats one written by a repair, whichever came first, and nothing beats it.
 */
import type { ChatId, Json, RunId } from "@meridian/protocol"

import { asChatId, asRunId } from "./identifier.ts"
import { choice, number, text, texts, type Fields } from "./json-line.ts"
import { readMark, writeMark, type ProcessMark } from "./process-mark.ts"

export const RUN_STATUSES = ["queued", "running", "succeeded", "failed", "cancelled"] as const
export type RunStatus = (typeof RUN_STATUSES)[number]
export type EndStatus = Extract<RunStatus, "succeeded" | "failed" | "cancelled">

export interface RunUsage {
  readonly inputTokens?: number | undefined
  readonly cachedInputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly costUsd?: number | undefined
}

export interface RunStart {
  readonly id: RunId
  readonly status: "queued" | "running"
  /** The chat it was spawned from. */
  readonly chatId?: ChatId | undefined
  readonly parentRunId?: RunId | undefined
  readonly continuedFrom?: RunId | undefined
  readonly depth: number
  readonly model: string
  readonly harness: string
  readonly harnessSessionId?: string | undefined
  readonly agent?: string | undefined
  readonly agentPath?: string | undefined
  readonly skills: readonly string[]
  readonly skillPaths: readonly string[]
  readonly permission?: string | undefined
  readonly cwd?: string | undefined
  readonly background: boolean
  readonly timeoutSecs?: number | undefined
  readonly startedAt: string
  readonly worker?: ProcessMark | undefined
}

export interface RunEnd extends RunUsage {
  readonly status: EndStatus
  readonly exitCode: number
  readonly finishedAt: string
  readonly durationSecs?: number | undefined
  /** A word of a closed set: the class of the failure, `timeout`, `cancelled`, `orphan_run`. */
  readonly error?: string | undefined
  /** The same for people. */
  readonly message?: string | undefined
  readonly attempts?: number | undefined
  /** The whole session so far, where the harness reports totals: what the next run of it starts from. */
  readonly sessionUsage?: RunUsage | undefined
  readonly by: "worker" | "cancel" | "repair"
}

export interface RunUpdate {
  readonly status?: "running" | undefined
  readonly harnessSessionId?: string | undefined
  readonly harnessProcess?: ProcessMark | undefined
  readonly attempt?: number | undefined
}

export interface Run extends Omit<RunStart, "status"> {
  readonly status: RunStatus
  readonly harnessProcess?: ProcessMark | undefined
  readonly attempt?: number | undefined
  readonly end?: RunEnd | undefined
}

export type RunEvent =
  | ({ readonly event: "start" } & RunStart)
  | ({ readonly event: "update"; readonly id: RunId } & RunUpdate)
  | ({ readonly event: "finalize"; readonly id: RunId } & RunEnd)

export const isEnded = (run: Run): boolean => run.end !== undefined

/** Undefined for lines that are no event of a run: a kind we do not know, or one without its id. */
export const decodeRunEvent = (fields: Fields): RunEvent | undefined => {
  const id = asRunId(text(fields, "id"))
  if (id === undefined) return undefined
  switch (fields["event"]) {
    case "start":
      return { event: "start", ...decodeStart(id, fields) }
    case "update":
      return {
        event: "update",
        id,
        status: choice(fields, "status", ["running"] as const),
        harnessSessionId: text(fields, "harness_session_id"),
        harnessProcess: readMark(fields, "harness"),
        attempt: number(fields, "attempt"),
      }
    case "finalize":
      return { event: "finalize", id, ...decodeEnd(fields) }
    default:
      return undefined
  }
}

export const encodeRunStart = (run: RunStart): Record<string, Json | undefined> => ({
  v: 1,
  event: "start",
  id: run.id,
  status: run.status,
  chat_id: run.chatId,
  parent_run_id: run.parentRunId,
  continued_from: run.continuedFrom,
  depth: run.depth,
  model: run.model,
  harness: run.harness,
  harness_session_id: run.harnessSessionId,
  agent: run.agent,
  agent_path: run.agentPath,
  skills: run.skills,
  skill_paths: run.skillPaths,
  permission: run.permission,
  cwd: run.cwd,
  background: run.background ? true : undefined,
  timeout_secs: run.timeoutSecs,
  started_at: run.startedAt,
  ...writeMark("worker", run.worker),
})

export const encodeRunUpdate = (id: RunId, update: RunUpdate): Record<string, Json | undefined> => ({
  v: 1,
  event: "update",
  id,
  status: update.status,
  harness_session_id: update.harnessSessionId,
  attempt: update.attempt,
  ...writeMark("harness", update.harnessProcess),
})

export const encodeRunEnd = (id: RunId, end: RunEnd): Record<string, Json | undefined> => ({
  v: 1,
  event: "finalize",
  id,
  status: end.status,
  exit_code: end.exitCode,
  finished_at: end.finishedAt,
  duration_secs: end.durationSecs,
  input_tokens: end.inputTokens,
  cached_input_tokens: end.cachedInputTokens,
  output_tokens: end.outputTokens,
  total_cost_usd: end.costUsd,
  attempts: end.attempts,
  session_input_tokens: end.sessionUsage?.inputTokens,
  session_cached_input_tokens: end.sessionUsage?.cachedInputTokens,
  session_output_tokens: end.sessionUsage?.outputTokens,
  error: end.error,
  message: end.message,
  by: end.by,
})

/** One event applied to what is known of its run. An update or end of a run that never started says nothing. */
export const applyRunEvent = (run: Run | undefined, event: RunEvent): Run | undefined => {
  if (event.event === "start") {
    const { event: _, ...start } = event
    return run ?? start
  }
  if (run === undefined) return undefined
  if (event.event === "update") {
    return {
      ...run,
      status: run.end === undefined ? (event.status ?? run.status) : run.status,
      harnessSessionId: event.harnessSessionId ?? run.harnessSessionId,
      harnessProcess: event.harnessProcess ?? run.harnessProcess,
      attempt: event.attempt ?? run.attempt,
    }
  }
  const { event: _, id: __, ...end } = event
  if (run.end !== undefined && (run.end.by !== "repair" || end.by === "repair")) return run
  return { ...run, status: end.status, end }
}

/** Runs in the order they started. */
export const replayRuns = (events: Iterable<RunEvent>): readonly Run[] => {
  const runs = new Map<RunId, Run>()
  for (const event of events) {
    const run = applyRunEvent(runs.get(event.id), event)
    if (run !== undefined) runs.set(event.id, run)
  }
  return [...runs.values()]
}

const decodeStart = (id: RunId, fields: Fields): RunStart => ({
  id,
  status: fields["status"] === "queued" ? "queued" : "running",
  chatId: asChatId(text(fields, "chat_id") ?? text(fields, FORMER_CHAT_KEY)),
  parentRunId: asRunId(text(fields, "parent_run_id")),
  continuedFrom: asRunId(text(fields, "continued_from")),
  depth: number(fields, "depth") ?? 0,
  model: text(fields, "model") ?? "",
  harness: text(fields, "harness") ?? "",
  harnessSessionId: text(fields, "harness_session_id"),
  agent: text(fields, "agent"),
  agentPath: text(fields, "agent_path"),
  skills: texts(fields, "skills"),
  skillPaths: texts(fields, "skill_paths"),
  permission: text(fields, "permission"),
  cwd: text(fields, "cwd"),
  background: fields["background"] === true,
  timeoutSecs: number(fields, "timeout_secs"),
  startedAt: text(fields, "started_at") ?? "",
  worker: readMark(fields, "worker"),
})

const decodeEnd = (fields: Fields): RunEnd => {
  const exitCode = number(fields, "exit_code")
  const error = text(fields, "error")
  const status = choice(fields, "status", ["succeeded", "failed", "cancelled"] as const)
  return {
    status: status ?? (exitCode === 0 ? "succeeded" : "failed"),
    exitCode: exitCode ?? (status === "succeeded" ? 0 : 1),
    finishedAt: text(fields, "finished_at") ?? "",
    durationSecs: number(fields, "duration_secs"),
    inputTokens: number(fields, "input_tokens"),
    cachedInputTokens: number(fields, "cached_input_tokens"),
    outputTokens: number(fields, "output_tokens"),
    costUsd: number(fields, "total_cost_usd"),
    attempts: number(fields, "attempts"),
    sessionUsage: decodeSessionUsage(fields),
    error,
    message: text(fields, "message"),
    by:
      choice(fields, "by", ["worker", "cancel", "repair"] as const) ??
      (error === "orphan_run" ? "repair" : "worker"),
  }
}

const decodeSessionUsage = (fields: Fields): RunUsage | undefined => {
  const inputTokens = number(fields, "session_input_tokens")
  if (inputTokens === undefined) return undefined
  return {
    inputTokens,
    cachedInputTokens: number(fields, "session_cached_input_tokens"),
    outputTokens: number(fields, "session_output_tokens"),
  }
}

/** The totals of a harness session after the run of it that ended last, if it told them. */
export const sessionUsageIn = (runs: readonly Run[], harnessSession: string): RunUsage | undefined =>
  runs.findLast((run) => run.harnessSessionId === harnessSession && run.end?.sessionUsage !== undefined)?.end
    ?.sessionUsage

/** What `chat_id` was called before the two ideas of a session had two names. */
export const FORMER_CHAT_KEY = ["session", "id"].join("_")
