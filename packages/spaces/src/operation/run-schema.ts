/** How every operation describes a run: absent values are left out, and the prompt is one line. */
import { BOOLEAN, INTEGER, NUMBER, STRING, listOf, objectOf, oneOf, type TypeOf } from "@meridian/protocol"

import { VERDICTS } from "../domain/check.ts"
import { RUN_STATUSES, WAITING_FOR } from "../domain/run-status.ts"
import { FILE_TIERS, PERMISSION_TIERS } from "../domain/tier.ts"
import { ACP_PREFIX, HARNESS_IDS } from "../port/harness.ts"
import type { Field } from "./field.ts"
import { CHECK_DOCUMENT, COMPARED_RUN, SANDBOX_DOCUMENT, WORKTREE_DOCUMENT } from "./hands-fields.ts"

/** One launch of a harness. `why`: how it ended, in one word. */
export const ATTEMPT_DOCUMENT = objectOf(
  { harness: STRING, began: STRING },
  { session: STRING, ended: STRING, why: STRING, message: STRING, cost_usd: NUMBER, unpinned: STRING },
)
export type AttemptDocument = TypeOf<typeof ATTEMPT_DOCUMENT>

/** What a run did last: its last line, its last call, and when. */
export const ACTIVITY_DOCUMENT = objectOf({}, { line: STRING, tool: STRING, at: STRING })
export type ActivityDocument = TypeOf<typeof ACTIVITY_DOCUMENT>

/** Words sent to a run that may not have arrived, and when they will be told. */
export const WORDS_DOCUMENT = objectOf({
  told: oneOf("step", "tool", "message"),
  waiting: listOf(objectOf({ at: STRING, text: STRING, handed_over: BOOLEAN })),
})
export type WordsDocument = TypeOf<typeof WORDS_DOCUMENT>

/** What is known about its claim to be done, and which files its checks depend on the agent changed. */
const PROOF_DOCUMENT = { verdict: oneOf(...VERDICTS), changed_check_files: listOf(STRING) }

export const RUN_DOCUMENT = objectOf(
  { run_id: STRING, space_id: STRING, status: oneOf(...RUN_STATUSES), model: STRING, harness: STRING },
  {
    chat_id: STRING,
    parent_run_id: STRING,
    continued_from: STRING,
    firing: STRING,
    agent: STRING,
    skills: listOf(STRING),
    background: BOOLEAN,
    cwd: STRING,
    harness_session_id: STRING,
    task: STRING,
    activity: ACTIVITY_DOCUMENT,
    words: WORDS_DOCUMENT,
    waiting_for: oneOf(...WAITING_FOR),
    waiting_until: STRING,
    elapsed_secs: NUMBER,
    started_at: STRING,
    finished_at: STRING,
    duration_secs: NUMBER,
    exit_code: INTEGER,
    attempts: listOf(ATTEMPT_DOCUMENT),
    failure_reason: STRING,
    message: STRING,
    input_tokens: INTEGER,
    cached_input_tokens: INTEGER,
    output_tokens: INTEGER,
    cost_usd: NUMBER,
    report_path: STRING,
    report_summary: STRING,
    report: STRING,
    files_touched: listOf(STRING),
    worktree: WORKTREE_DOCUMENT,
    sandbox: SANDBOX_DOCUMENT,
    besides: listOf(STRING),
    ...PROOF_DOCUMENT,
    contest_id: STRING,
    checks: listOf(CHECK_DOCUMENT),
  },
)
export type RunDocument = TypeOf<typeof RUN_DOCUMENT>

/** A run that was spawned, or would have been in a dry run. */
export const SPAWN_DOCUMENT = objectOf(
  { status: oneOf(...RUN_STATUSES, "dry-run"), model: STRING, harness: STRING },
  {
    run_id: STRING,
    space_id: STRING,
    chat_id: STRING,
    parent_run_id: STRING,
    continued_from: STRING,
    firing: STRING,
    agent: STRING,
    skills: listOf(STRING),
    background: BOOLEAN,
    cwd: STRING,
    harness_session_id: STRING,
    started_at: STRING,
    finished_at: STRING,
    duration_secs: NUMBER,
    exit_code: INTEGER,
    attempts: listOf(ATTEMPT_DOCUMENT),
    waiting_for: oneOf(...WAITING_FOR),
    waiting_until: STRING,
    failure_reason: STRING,
    message: STRING,
    input_tokens: INTEGER,
    cached_input_tokens: INTEGER,
    output_tokens: INTEGER,
    cost_usd: NUMBER,
    report_path: STRING,
    report: STRING,
    events_path: STRING,
    worktree: WORKTREE_DOCUMENT,
    sandbox: SANDBOX_DOCUMENT,
    besides: listOf(STRING),
    ...PROOF_DOCUMENT,
    contest_id: STRING,
    contest: listOf(COMPARED_RUN),
    composed_prompt: STRING,
    cli_command: listOf(STRING),
  },
)
export type SpawnDocument = TypeOf<typeof SPAWN_DOCUMENT>

export const HARNESS_FIELD = {
  type: "string",
  description:
    "Harness to use, regardless of the model's name; direct is Meridian's own engine, acp:NAME an agent of your configuration.",
  choices: HARNESS_IDS,
  openChoice: ACP_PREFIX,
  value: "HARNESS",
} as const satisfies Field

export const TASK_FIELD = {
  type: "string",
  description: "The task in your words: pinned after every compaction instead of the first prompt.",
  value: "TEXT",
} as const satisfies Field

export const FAILOVER_FIELD = {
  type: "strings",
  description:
    "Harnesses that take over the run, in this order, if its own cannot go on (default: runs.failover); an empty value means none.",
  split: true,
  value: "HARNESS,...",
} as const satisfies Field

export const RUN_FIELD = {
  type: "string",
  description: "Run id, or @latest, @last-failed, @last-completed.",
  positional: true,
  value: "RUN",
} as const satisfies Field

export const TIMEOUT_FIELD = {
  type: "seconds",
  description: "End the run after this time: seconds, or 90s, 5m, 2h.",
  flag: "timeout",
  aliases: ["timeout-secs"],
  value: "TIME",
} as const satisfies Field

export const PERMISSION_FIELD = {
  type: "string",
  description: "What the agent may touch; never more than the run or chat that starts it.",
  choices: PERMISSION_TIERS,
  // A model calls the tool, and `danger` needs a person.
  toolChoices: FILE_TIERS,
  value: "TIER",
} as const satisfies Field

/** Set by the supervisor when a schedule fires. Users never type it. */
export const FIRING_FIELD = {
  type: "string",
  description: "The firing of a schedule that requests this run.",
  only: "command",
  hidden: true,
  value: "FIRING",
} as const satisfies Field

export const REPORT_FIELD = {
  type: "boolean",
  description: "Include the whole report.",
  aliases: ["include-report"],
} as const satisfies Field

export const INCLUDE_FILES_FIELD = {
  type: "boolean",
  description: "Include the files the run wrote.",
} as const satisfies Field
