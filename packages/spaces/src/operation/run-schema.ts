import { RUN_STATUSES } from "../domain/run.ts"
/** How a run is told, by every operation that tells of one: absent values are left out; of the prompt, one line. */
import { FILE_TIERS, PERMISSION_TIERS } from "../domain/tier.ts"
import { HARNESS_IDS } from "../port/harness.ts"
import type { Field } from "./field.ts"
import { BOOLEAN, INTEGER, listOf, NUMBER, objectOf, oneOf, STRING, type DocumentOf } from "./schema.ts"

export const RUN_DOCUMENT = objectOf(
  { run_id: STRING, space_id: STRING, status: oneOf(...RUN_STATUSES), model: STRING, harness: STRING },
  {
    chat_id: STRING,
    parent_run_id: STRING,
    continued_from: STRING,
    agent: STRING,
    skills: listOf(STRING),
    background: BOOLEAN,
    cwd: STRING,
    harness_session_id: STRING,
    task: STRING,
    activity: STRING,
    elapsed_secs: NUMBER,
    started_at: STRING,
    finished_at: STRING,
    duration_secs: NUMBER,
    exit_code: INTEGER,
    attempts: INTEGER,
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
  },
)
export type RunDocument = DocumentOf<typeof RUN_DOCUMENT>

/** A run that was spawned, or (a dry run) would have been. */
export const SPAWN_DOCUMENT = objectOf(
  { status: oneOf(...RUN_STATUSES, "dry-run"), model: STRING, harness: STRING },
  {
    run_id: STRING,
    space_id: STRING,
    chat_id: STRING,
    parent_run_id: STRING,
    continued_from: STRING,
    agent: STRING,
    skills: listOf(STRING),
    background: BOOLEAN,
    cwd: STRING,
    harness_session_id: STRING,
    started_at: STRING,
    finished_at: STRING,
    duration_secs: NUMBER,
    exit_code: INTEGER,
    attempts: INTEGER,
    failure_reason: STRING,
    message: STRING,
    input_tokens: INTEGER,
    cached_input_tokens: INTEGER,
    output_tokens: INTEGER,
    cost_usd: NUMBER,
    report_path: STRING,
    report: STRING,
    events_path: STRING,
    composed_prompt: STRING,
    cli_command: listOf(STRING),
  },
)
export type SpawnDocument = DocumentOf<typeof SPAWN_DOCUMENT>

export const HARNESS_FIELD = {
  type: "string",
  description: "Harness to use, whatever the model's name says; direct is Meridian's own engine.",
  choices: HARNESS_IDS,
  value: "HARNESS",
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
  description: "What the agent may touch; never more than what it is started from.",
  choices: PERMISSION_TIERS,
  // A tool is called by a model, and `danger` takes a person.
  toolChoices: FILE_TIERS,
  value: "TIER",
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
