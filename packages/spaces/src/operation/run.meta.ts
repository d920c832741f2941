import { BOOLEAN, INTEGER, NUMBER, STRING, listOf, mapOf, objectOf, oneOf } from "@meridian/protocol"

import { VERDICTS } from "../domain/check.ts"
import { RUN_STATUSES, WAITING_FOR } from "../domain/run-status.ts"
import { CAP_FIELDS, RAISED_FIELDS } from "./budget-fields.ts"
import {
  CHECK_FIELDS,
  CONTEST_FIELDS,
  SANDBOX_FIELDS,
  WITH_CHANGES_FIELD,
  WORKTREE_FIELD,
} from "./hands-fields.ts"
import { defineMeta } from "./operation.ts"
import {
  FIRING_FIELD,
  FAILOVER_FIELD,
  HARNESS_FIELD,
  INCLUDE_FILES_FIELD,
  PERMISSION_FIELD,
  REPORT_FIELD,
  RUN_DOCUMENT,
  RUN_FIELD,
  SPAWN_DOCUMENT,
  TASK_FIELD,
  TIMEOUT_FIELD,
} from "./run-schema.ts"
import { SPACE_FIELD } from "./space-context.ts"

const PROMPT_FIELD = {
  type: "string",
  description: "The task for the agent.",
  short: "p",
  stdin: true,
  toolRequired: true,
  value: "TEXT",
} as const
const MODEL_FIELD = { type: "string", description: "Model id or alias.", short: "m", value: "MODEL" } as const
const BACKGROUND_FIELD = {
  type: "boolean",
  description: "Print the run id and return at once; a separate worker carries out the run.",
} as const

const ASK_FIELD = {
  type: "boolean",
  description:
    "Questions of the engine wait for an answer ('meridian answer', the page) instead of being refused.",
  only: "command",
} as const

const QUIET_FIELD = {
  type: "boolean",
  description: "No live line on the terminal while the run works.",
  short: "q",
  only: "command",
} as const

export const RUN_SPAWN = defineMeta({
  name: "run.spawn",
  audience: "agent",
  summary: "Create and start a run.",
  tool: "run_spawn",
  toolDetails:
    "Blocks until the run ends, reports progress, and answers with the report; cancelling the call cancels the run. With background: true it answers at once with the run id, for run_wait. Without a space, the runs of one connection share one that the first run creates.",
  format: "text",
  fields: {
    prompt: PROMPT_FIELD,
    task: TASK_FIELD,
    model: MODEL_FIELD,
    harness: HARNESS_FIELD,
    failover: FAILOVER_FIELD,
    agent: { type: "string", description: "Agent profile.", short: "a", value: "NAME" },
    skills: {
      type: "strings",
      description: "Skills, added to those of the agent.",
      short: "s",
      split: true,
      value: "NAME",
    },
    files: {
      type: "strings",
      description: "Files for the agent to read; @name is a file in the space.",
      flag: "file",
      short: "f",
      value: "PATH",
    },
    templateVars: {
      type: "strings",
      description: "KEY=VALUE for {{KEY}} in the prompt; KEY=@path uses the content of a file.",
      flag: "var",
      aliases: ["prompt-var"],
      value: "KEY=VALUE",
    },
    schema: {
      type: "string",
      description:
        "JSON Schema of the answer: the report is that value as JSON. For Claude, Codex and Direct.",
      value: "FILE",
    },
    space: SPACE_FIELD,
    background: BACKGROUND_FIELD,
    quiet: QUIET_FIELD,
    dryRun: { type: "boolean", description: "Show what would be launched; nothing is written." },
    timeoutSecs: TIMEOUT_FIELD,
    ...CAP_FIELDS,
    permission: PERMISSION_FIELD,
    ask: ASK_FIELD,
    firing: FIRING_FIELD,
    worktree: WORKTREE_FIELD,
    withChanges: WITH_CHANGES_FIELD,
    ...SANDBOX_FIELDS,
    ...CHECK_FIELDS,
    ...CONTEST_FIELDS,
    cwd: {
      type: "string",
      description: "Where the harness starts; default is the project root.",
      value: "DIRECTORY",
    },
    args: {
      type: "strings",
      description: "Words after -- go to the harness.",
      positional: "dashes",
      only: "command",
      value: "ARGS",
    },
  },
  output: SPAWN_DOCUMENT,
  details:
    "The report goes to stdout, facts about the run to stderr. Without --space and MERIDIAN_SPACE_ID a space is made. Exit codes: 0 succeeded, 1 failed (or refuted by its checks), 2 could not be started, 3 timeout, 130 and 143 stopped. With checks the verdict is verified or refuted; without any it is unverified.",
  examples: [
    'run spawn -m opus -p "review the diff"',
    'run spawn --background -a coder -f plan.md -p "do step 2"',
    'run spawn --best-of 3 --models opus,gpt-5 --check "npm test" -p "mend the login"',
    'run spawn --worktree --check "npm test" -p "mend the login"',
    'run spawn --schema answer.json -p "which files import chalk?"',
  ],
})

export const RUN_CONTINUE = defineMeta({
  name: "run.continue",
  audience: "agent",
  summary: "Continue a previous run.",
  tool: "run_continue",
  toolDetails: "Blocks and reports progress as run_spawn does, unless background is true.",
  format: "text",
  fields: {
    runId: {
      ...RUN_FIELD,
      description: `${RUN_FIELD.description} Default: the last run of the current chat.`,
    },
    prompt: PROMPT_FIELD,
    model: MODEL_FIELD,
    harness: {
      ...HARNESS_FIELD,
      description: "Continue in another harness: a new conversation that is told what was done before.",
    },
    failover: FAILOVER_FIELD,
    agent: { type: "string", description: "Another agent profile than before.", short: "a", value: "NAME" },
    skills: {
      type: "strings",
      description: "Other skills than before.",
      short: "s",
      split: true,
      value: "NAME",
    },
    files: {
      type: "strings",
      description: "Files for the agent to read.",
      flag: "file",
      short: "f",
      value: "PATH",
    },
    templateVars: {
      type: "strings",
      description: "KEY=VALUE for {{KEY}} in the prompt.",
      flag: "var",
      value: "KEY=VALUE",
    },
    fork: { type: "boolean", description: "Continue in a copy; the run's own conversation stays as it is." },
    space: SPACE_FIELD,
    background: BACKGROUND_FIELD,
    quiet: QUIET_FIELD,
    dryRun: { type: "boolean", description: "Show what would be launched; nothing is written." },
    timeoutSecs: TIMEOUT_FIELD,
    ...CAP_FIELDS,
    permission: PERMISSION_FIELD,
    ask: ASK_FIELD,
    firing: FIRING_FIELD,
    ...SANDBOX_FIELDS,
    ...CHECK_FIELDS,
    cwd: {
      type: "string",
      description: "Where the harness starts; default is where the run was.",
      value: "DIRECTORY",
    },
  },
  output: SPAWN_DOCUMENT,
  details:
    "Runs in the recorded directory, with the recorded agent, skills and model unless others are given. A harness that no longer knows the conversation begins a new one with the task and an account of the work.",
  examples: [
    'run continue r3 -p "now the tests"',
    'run continue -p "go on"',
    'run continue r3 --harness codex -p "go on"',
  ],
})

/** The process that resumes runs whose worker is gone. Users never type this. */
export const RUN_SUPERVISE = defineMeta({
  name: "run.supervise",
  audience: "agent",
  summary: "Carry on with runs whose worker is gone.",
  hidden: true,
  fields: {
    stay: { type: "boolean", description: "Stay even if there is nothing left to do: for a service unit." },
  },
  output: objectOf({ worked: BOOLEAN }),
})

export const RUN_SEND = defineMeta({
  name: "run.send",
  audience: "human",
  summary: "Send words to a run that has not ended.",
  fields: {
    runId: { ...RUN_FIELD, required: true },
    text: {
      type: "string",
      description: "The message.",
      positional: true,
      required: true,
      stdin: true,
      value: "TEXT",
    },
    space: SPACE_FIELD,
  },
  output: objectOf({ run_id: STRING, status: oneOf(...RUN_STATUSES), waiting_words: INTEGER }),
  details:
    "An engine run gets the words at its next step; Claude Code and OpenCode get them after the next tool, through the hook or plugin of the launch. Any other harness gets them when its turn has ended, and so do words that come too late; the run does not end before that. A waiting or paused run gets them when it resumes. A kill in between neither loses nor repeats the words. 'run show' lists waiting words.",
  examples: ['run send r3 "leave the tests alone"'],
})

export const RUN_PAUSE = defineMeta({
  name: "run.pause",
  audience: "human",
  summary: "Pause a run at the next moment no tool is at work.",
  fields: { runId: { ...RUN_FIELD, required: true }, space: SPACE_FIELD },
  output: objectOf({ run_id: STRING, status: oneOf(...RUN_STATUSES) }),
  details: "Its conversation stays as it is; 'meridian run resume' continues it.",
})

export const RUN_RESUME = defineMeta({
  name: "run.resume",
  audience: "agent",
  summary: "Resume a paused or waiting run.",
  tool: "run_resume",
  toolDetails:
    "A run whose budget is used up needs a higher cap. A run can only raise caps of runs it started.",
  fields: { runId: { ...RUN_FIELD, required: true }, ...RAISED_FIELDS, space: SPACE_FIELD },
  output: objectOf({ run_id: STRING, status: oneOf(...RUN_STATUSES) }),
  details:
    "A run that waits for a limit retries at once. One whose budget is used up needs a higher cap; raise caps of a tree, a space or a day in the configuration first.",
  examples: ["run resume r3", "run resume r3 --max-cost 5"],
})

/** For people and service units, after a reboot. */
export const UP = defineMeta({
  name: "up",
  audience: "human",
  summary: "Resume the runs of this project that were left behind.",
  fields: {},
  output: objectOf({ runs: listOf(STRING) }),
  details:
    "Starts the supervisor if runs wait for one. Most other commands do the same if they find such a run.",
})

/** The process behind `--background`. Users never type this. */
export const RUN_WORKER = defineMeta({
  name: "run.worker",
  audience: "agent",
  summary: "Carry out a background run.",
  hidden: true,
  fields: {
    log: {
      type: "string",
      description: "Its log until the run has a directory.",
      positional: true,
      required: true,
    },
  },
  output: objectOf({ run_id: STRING, exit_code: INTEGER }),
})

export const RUN_LIST = defineMeta({
  name: "run.list",
  audience: "agent",
  summary: "List runs with optional filters.",
  tool: "run_list",
  fields: {
    space: SPACE_FIELD,
    status: {
      type: "string",
      description: "Only runs in this state.",
      choices: RUN_STATUSES,
      value: "STATUS",
    },
    model: { type: "string", description: "Only runs of this model, by id or alias.", value: "MODEL" },
    failed: { type: "boolean", description: "Only failed runs." },
    limit: {
      type: "integer",
      description: "At most this many, newest first.",
      default: 20,
      minimum: 1,
      value: "N",
    },
  },
  output: objectOf({
    runs: listOf(
      objectOf(
        { run_id: STRING, status: oneOf(...RUN_STATUSES), model: STRING, space_id: STRING },
        {
          chat_id: STRING,
          parent_run_id: STRING,
          harness: STRING,
          agent: STRING,
          task: STRING,
          started_at: STRING,
          duration_secs: NUMBER,
          cost_usd: NUMBER,
          verdict: oneOf(...VERDICTS),
          waiting_for: oneOf(...WAITING_FOR),
          waiting_until: STRING,
        },
      ),
    ),
  }),
})

export const RUN_SHOW = defineMeta({
  name: "run.show",
  audience: "agent",
  summary: "Show run details.",
  tool: "run_show",
  fields: {
    runId: { ...RUN_FIELD, required: true },
    report: REPORT_FIELD,
    includeFiles: INCLUDE_FILES_FIELD,
    space: SPACE_FIELD,
  },
  output: RUN_DOCUMENT,
})

export const RUN_WAIT = defineMeta({
  name: "run.wait",
  audience: "agent",
  summary: "Wait until a run reaches terminal status.",
  tool: "run_wait",
  toolDetails: "Blocks until every named run has ended, and reports progress.",
  fields: {
    runIds: {
      type: "strings",
      description: "Run ids, or @latest, @last-failed, @last-completed.",
      positional: "rest",
      value: "RUN",
    },
    runId: { type: "string", description: "One run, instead of run_ids.", only: "tool" },
    timeoutSecs: {
      ...TIMEOUT_FIELD,
      description: "Give up after this time (exit code 124); default is timeouts.wait_seconds.",
    },
    report: REPORT_FIELD,
    includeFiles: INCLUDE_FILES_FIELD,
    quiet: QUIET_FIELD,
    space: SPACE_FIELD,
  },
  output: objectOf(
    {
      runs: listOf(RUN_DOCUMENT),
      total_runs: INTEGER,
      succeeded_runs: INTEGER,
      failed_runs: INTEGER,
      cancelled_runs: INTEGER,
      any_failed: BOOLEAN,
    },
    { run_id: STRING, status: oneOf(...RUN_STATUSES), exit_code: INTEGER },
  ),
  details: "Exit codes: 0 all succeeded, 1 one failed or was cancelled, 124 timed out.",
})

export const RUN_TAIL = defineMeta({
  name: "run.tail",
  audience: "human",
  summary: "Follow a run in words until it ends.",
  format: "text",
  fields: {
    runId: { ...RUN_FIELD, required: true },
    lines: {
      type: "integer",
      description: "Begin with this many of its last acts.",
      short: "n",
      default: 20,
      minimum: 1,
      maximum: 1_000,
      value: "N",
    },
    once: { type: "boolean", description: "Print the present lines and exit." },
    space: SPACE_FIELD,
  },
  output: objectOf(
    { run_id: STRING, status: oneOf(...RUN_STATUSES), lines: listOf(STRING) },
    { duration_secs: NUMBER },
  ),
  details:
    "Ctrl-C stops following; the run continues. As JSON: one document at the end, with the last 1000 lines.",
  examples: ["run tail r3", "run tail @latest -n 100 --once"],
})

export const RUN_WATCH = defineMeta({
  name: "run.watch",
  audience: "human",
  summary: "Watch every run of a space until none is open.",
  fields: {
    once: { type: "boolean", description: "Show the open runs and exit." },
    space: SPACE_FIELD,
  },
  output: objectOf({
    runs: listOf(
      objectOf(
        { run_id: STRING, status: oneOf(...RUN_STATUSES), task: STRING, elapsed_secs: NUMBER },
        { activity: STRING },
      ),
    ),
  }),
  details:
    "On a terminal one live line for each open run; new runs join. Ctrl-C stops watching; the runs continue.",
  examples: ["run watch", "run watch --once --json"],
})

export const RUN_STATS = defineMeta({
  name: "run.stats",
  audience: "agent",
  summary: "Show aggregate run statistics with optional filters.",
  tool: "run_stats",
  fields: {
    session: { type: "string", description: "Only runs spawned from this chat.", value: "CHAT" },
    space: SPACE_FIELD,
  },
  output: objectOf(
    {
      total_runs: INTEGER,
      succeeded: INTEGER,
      failed: INTEGER,
      cancelled: INTEGER,
      running: INTEGER,
      queued: INTEGER,
      waiting: INTEGER,
      paused: INTEGER,
      attempts: INTEGER,
      attempts_ended: mapOf(INTEGER),
      total_duration_secs: NUMBER,
      models: mapOf(INTEGER),
    },
    { total_cost_usd: NUMBER, input_tokens: INTEGER, cached_input_tokens: INTEGER, output_tokens: INTEGER },
  ),
})

export const RUN_CANCEL = defineMeta({
  name: "run.cancel",
  audience: "agent",
  summary: "End a run; it is recorded as cancelled.",
  tool: "run_cancel",
  fields: { runId: { ...RUN_FIELD, required: true }, space: SPACE_FIELD },
  output: objectOf(
    { run_id: STRING, space_id: STRING, status: oneOf(...RUN_STATUSES) },
    { exit_code: INTEGER, already_ended: BOOLEAN },
  ),
})

export const RUN_FILES = defineMeta({
  name: "run.files",
  audience: "agent",
  summary: "List the files a run wrote.",
  tool: "run_files",
  fields: { runId: { ...RUN_FIELD, required: true }, space: SPACE_FIELD },
  output: objectOf({ run_id: STRING, files: listOf(STRING) }),
})
