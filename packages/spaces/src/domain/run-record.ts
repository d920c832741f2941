/**
 * `runs.jsonl`, one event a line, each with its version in `v` (now 2):
 *
 *   start     what a run is: id, task, model, harness, agent, skills, working directory, parent, its worker
 *   update    what became known or was requested: status, the harness's session id and process, a new worker, an attempt that
 *             began or ended, what it waits for and until when, a request to pause or to go on
 *   finalize  how it ended: status, exit code, usage, `error`, what its checks say; `by` says who wrote it
 *   check     a check of it that ran, and how that ended (`check-record.ts`)
 *   worktree  what became of its worktree (`worktree-record.ts`)
 *
 * The record holds as much of the task as is pinned; a longer one is whole in `runs/<id>/task.md`. The text the
 * harness was given, with everything we wrap around the task, is in `prompt.md`. Processes are `<who>_pid` and
 * `<who>_started`; continuity also reads this log, inside hosts, and knows these names.
 */
import {
  BOOLEAN,
  CHAT_ID,
  COUNT,
  INTEGER,
  listOf,
  number as numberFrom,
  objectOf,
  oneOf,
  RUN_ID,
  STRING,
  taggedBy,
  wordAt,
  type RunId,
} from "@meridian/protocol"

import { CHECK_EVENT, type CheckEventRecord } from "./check-record.ts"
import { asChatId, asRunId } from "./identifier.ts"
import { choice, number, text, texts, type Fields } from "./json-line.ts"
import { recordDecoder, recordEncoder, type RecordOf, type WrittenRecord } from "./record.ts"
import { END_STATUSES, WAITING_FOR } from "./run-status.ts"
import { SANDBOX_KINDS, SANDBOX_NETWORKS } from "./sandbox.ts"
import { WORKTREE, WORKTREE_EVENT, type WorktreeEventRecord } from "./worktree-record.ts"

export const RECORD_VERSION = 2

const AMOUNT = numberFrom({ least: 0 })

const USAGE = {
  inputTokens: AMOUNT,
  cachedInputTokens: AMOUNT,
  outputTokens: AMOUNT,
  totalCostUsd: AMOUNT,
}

const SANDBOX = objectOf(
  { by: oneOf(...SANDBOX_KINDS) },
  { network: oneOf(...SANDBOX_NETWORKS), why: STRING },
)

const START = objectOf(
  {
    event: oneOf("start"),
    id: RUN_ID,
    status: oneOf("queued", "running"),
    depth: COUNT,
    model: STRING,
    harness: STRING,
    skills: listOf(STRING),
    skillPaths: listOf(STRING),
    startedAt: STRING,
  },
  {
    task: STRING,
    /** The chat it was spawned from. */
    chatId: CHAT_ID,
    parentRunId: RUN_ID,
    continuedFrom: RUN_ID,
    harnessSessionId: STRING,
    agent: STRING,
    agentPath: STRING,
    permission: STRING,
    cwd: STRING,
    background: BOOLEAN,
    timeoutSecs: AMOUNT,
    /** `sch1@<time>`: the firing of a schedule that began it. */
    firing: STRING,
    workerPid: COUNT,
    workerStarted: STRING,
    worktree: WORKTREE,
    /** The run's sandbox. Absent if none was requested. */
    sandbox: SANDBOX,
    /** Shared by all runs that --best-of spawned for one task. */
    contest: STRING,
    /** Other runs that were writing into the same checkout when it began. */
    besides: listOf(STRING),
  },
)

const ATTEMPT_BEGAN = objectOf(
  { number: COUNT, harness: STRING, began: STRING },
  {
    model: STRING,
    harnessSessionId: STRING,
    /** Why the harness did not get the text that pins the task after a compaction. */
    unpinned: STRING,
  },
)

const ATTEMPT_ENDED = objectOf(
  { number: COUNT, ended: STRING, why: STRING },
  {
    ...USAGE,
    message: STRING,
    /** Turns of the model, including the harness's own retries and compactions. */
    turns: COUNT,
    madeProgress: BOOLEAN,
    /** When the limit that ended it is over, if known. */
    resetAt: STRING,
  },
)

const UPDATE = objectOf(
  { event: oneOf("update"), id: RUN_ID },
  {
    at: STRING,
    status: oneOf("queued", "running", "waiting", "paused"),
    harness: STRING,
    model: STRING,
    harnessSessionId: STRING,
    harnessPid: COUNT,
    harnessStarted: STRING,
    workerPid: COUNT,
    workerStarted: STRING,
    attemptBegan: ATTEMPT_BEGAN,
    attemptEnded: ATTEMPT_ENDED,
    waitingFor: oneOf(...WAITING_FOR),
    waitingUntil: STRING,
    message: STRING,
    /** A request to the worker. It answers with a status, or with the end for a stop. */
    asked: oneOf("pause", "resume", "stop"),
  },
)

const FINALIZE = objectOf(
  {
    event: oneOf("finalize"),
    id: RUN_ID,
    status: oneOf(...END_STATUSES),
    exitCode: INTEGER,
    finishedAt: STRING,
    by: oneOf("worker", "cancel", "repair"),
  },
  {
    durationSecs: AMOUNT,
    /** A word of a closed set: the class of the failure, `timeout`, `cancelled`, `orphan_run`. */
    error: STRING,
    /** The same, for people. */
    message: STRING,
    /** Only for a run with checks that said it was done. */
    verdict: oneOf("verified", "refuted"),
    /** Files that the checks depend on and that the agent changed. */
    changedCheckFiles: listOf(STRING),
    ...USAGE,
    /** Totals of the whole session, if the harness reports totals. The session's next run starts from them. */
    sessionInputTokens: AMOUNT,
    sessionCachedInputTokens: AMOUNT,
    sessionOutputTokens: AMOUNT,
  },
)

const EVENT = taggedBy("event", START, UPDATE, FINALIZE, WORKTREE_EVENT, CHECK_EVENT)

export type RunStartRecord = RecordOf<typeof START>
export type RunUpdateRecord = RecordOf<typeof UPDATE>
export type RunEndRecord = RecordOf<typeof FINALIZE>
export type RunRecord =
  | RunStartRecord
  | RunUpdateRecord
  | RunEndRecord
  | WorktreeEventRecord
  | CheckEventRecord

const encodeStart = recordEncoder(RECORD_VERSION, START)
const encodeUpdate = recordEncoder(RECORD_VERSION, UPDATE)
const encodeEnd = recordEncoder(RECORD_VERSION, FINALIZE)
const encodeWorktree = recordEncoder(RECORD_VERSION, WORKTREE_EVENT)
const encodeCheck = recordEncoder(RECORD_VERSION, CHECK_EVENT)

export const encodeRunRecord = (record: RunRecord): WrittenRecord => {
  switch (record.event) {
    case "start":
      return encodeStart(record)
    case "update":
      return encodeUpdate(record)
    case "finalize":
      return encodeEnd(record)
    case "worktree":
      return encodeWorktree(record)
    case "check":
      return encodeCheck(record)
  }
}

export const decodeRunRecord: (line: Fields, file: string) => RunRecord | undefined =
  recordDecoder<RunRecord>({
    first: (line) => readFirst(line),
    now: { version: RECORD_VERSION, shape: EVENT },
  })

/** Version 1, and lines from before versions. Missing fields are read as empty. */
const readFirst = (fields: Fields): RunRecord | undefined => {
  const id = asRunId(text(fields, "id"))
  if (id === undefined) return undefined
  switch (wordAt(fields, "event")) {
    case "start":
      return firstStart(id, fields)
    case "update":
      return firstUpdate(id, fields)
    case "finalize":
      return firstEnd(id, fields)
    default:
      return undefined
  }
}

/** The old name of `chat_id`, from before chats and sessions had two names. */
export const FORMER_CHAT_KEY = ["session", "id"].join("_")

const firstStart = (id: RunId, fields: Fields): RunStartRecord => ({
  event: "start",
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
  background: fields["background"] === true ? true : undefined,
  timeoutSecs: number(fields, "timeout_secs"),
  startedAt: text(fields, "started_at") ?? "",
  workerPid: number(fields, "worker_pid"),
  workerStarted: text(fields, "worker_started"),
})

const firstUpdate = (id: RunId, fields: Fields): RunUpdateRecord => {
  const attempt = number(fields, "attempt")
  return {
    event: "update",
    id,
    status: choice(fields, "status", ["running"] as const),
    harnessSessionId: text(fields, "harness_session_id"),
    harnessPid: number(fields, "harness_pid"),
    harnessStarted: text(fields, "harness_started"),
    attemptBegan: attempt === undefined ? undefined : { number: attempt, harness: "", began: "" },
  }
}

const firstEnd = (id: RunId, fields: Fields): RunEndRecord => {
  const exitCode = number(fields, "exit_code")
  const error = text(fields, "error")
  const status = choice(fields, "status", END_STATUSES)
  return {
    event: "finalize",
    id,
    status: status ?? (exitCode === 0 ? "succeeded" : "failed"),
    exitCode: exitCode ?? (status === "succeeded" ? 0 : 1),
    finishedAt: text(fields, "finished_at") ?? "",
    durationSecs: number(fields, "duration_secs"),
    inputTokens: number(fields, "input_tokens"),
    cachedInputTokens: number(fields, "cached_input_tokens"),
    outputTokens: number(fields, "output_tokens"),
    totalCostUsd: number(fields, "total_cost_usd"),
    sessionInputTokens: number(fields, "session_input_tokens"),
    sessionCachedInputTokens: number(fields, "session_cached_input_tokens"),
    sessionOutputTokens: number(fields, "session_output_tokens"),
    error,
    message: text(fields, "message"),
    by:
      choice(fields, "by", ["worker", "cancel", "repair"] as const) ??
      (error === "orphan_run" ? "repair" : "worker"),
  }
}
