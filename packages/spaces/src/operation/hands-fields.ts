/** Fields and documents that every operation on worktrees, checks and their runs shares. */
import { BOOLEAN, INTEGER, listOf, NUMBER, objectOf, oneOf, STRING, type TypeOf } from "@meridian/protocol"

import { CHECK_ENDS, CHECK_PLACES } from "../domain/check-record.ts"
import { VERDICTS } from "../domain/check.ts"
import { RUN_STATUSES } from "../domain/run-status.ts"
import { SANDBOX_KINDS, SANDBOX_MODES, SANDBOX_NETWORKS } from "../domain/sandbox.ts"
import { WORKTREE_STATES } from "../domain/worktree.ts"
import type { Field } from "./field.ts"

export const WORKTREE_FIELD = {
  type: "boolean",
  description: "Work in a separate worktree: your checkout changes when you apply the run.",
} as const satisfies Field

export const WITH_CHANGES_FIELD = {
  type: "boolean",
  description: "Bring your uncommitted changes into the worktree.",
} as const satisfies Field

export const SANDBOX_FIELDS = {
  sandbox: {
    type: "string",
    description:
      "Keep the agent's processes in a sandbox; with 'auto' only if this machine has one (default: sandbox.mode).",
    // Without a value the sandbox is required.
    choices: ["", ...SANDBOX_MODES],
    optionalValue: true,
    value: "MODE",
  },
  sandboxNetwork: {
    type: "string",
    description: "Whether the sandbox reaches the network (default: sandbox.network).",
    choices: SANDBOX_NETWORKS,
    value: "on|off",
  },
} as const satisfies Record<string, Field>

export const CONTEST_FIELDS = {
  bestOf: {
    type: "integer",
    description: "Spawn this many runs at the same task, each in its own worktree, and compare them.",
    minimum: 1,
    value: "N",
  },
  models: {
    type: "strings",
    description: "With --best-of: the runs' models, in turn; alone: one run for each.",
    split: true,
    value: "MODEL,...",
  },
} as const satisfies Record<string, Field>

/** `best`: the one to look at first. */
export const COMPARED_RUN = objectOf(
  { run_id: STRING, status: oneOf(...RUN_STATUSES), model: STRING, harness: STRING },
  {
    verdict: oneOf(...VERDICTS),
    changed_check_files: listOf(STRING),
    files: INTEGER,
    additions: INTEGER,
    deletions: INTEGER,
    cost_usd: NUMBER,
    duration_secs: NUMBER,
    worktree_state: oneOf(...WORKTREE_STATES),
    best: BOOLEAN,
  },
)

/** `by`: bubblewrap, or none with the reason. */
export const SANDBOX_DOCUMENT = objectOf(
  { by: oneOf(...SANDBOX_KINDS) },
  { network: oneOf(...SANDBOX_NETWORKS), why: STRING },
)

export const CHECK_FIELDS = {
  check: {
    type: "strings",
    description:
      "A command line that proves the work, run by Meridian when the agent says it is done (repeatable; default: the agent's, then runs.check); an empty one means none.",
    only: "command",
    value: "COMMAND",
  },
  checkTimeout: {
    type: "seconds",
    description: "Time limit of each check (default: runs.check_timeout).",
    only: "command",
    minimum: 0.001,
    value: "TIME",
  },
  checkRounds: {
    type: "integer",
    description: "How often red checks go back to the agent (default: runs.check_rounds).",
    only: "command",
    minimum: 0,
    value: "N",
  },
} as const satisfies Record<string, Field>

/** `place`: on the agent's claim to be done, or on the work as it would be applied. `output`: the last part of it. */
export const CHECK_DOCUMENT = objectOf(
  {
    command: STRING,
    place: oneOf(...CHECK_PLACES),
    attempt: INTEGER,
    ended: oneOf(...CHECK_ENDS),
    green: BOOLEAN,
    duration_secs: NUMBER,
    at: STRING,
    output: STRING,
    log_path: STRING,
  },
  { exit_code: INTEGER },
)
export type CheckDocument = TypeOf<typeof CHECK_DOCUMENT>

/** `state`: what became of it. `base`: the commit it is based on. */
export const WORKTREE_DOCUMENT = objectOf(
  { path: STRING, branch: STRING, base: STRING, state: oneOf(...WORKTREE_STATES) },
  { commit: STRING, kept: STRING },
)
export type WorktreeDocument = TypeOf<typeof WORKTREE_DOCUMENT>
