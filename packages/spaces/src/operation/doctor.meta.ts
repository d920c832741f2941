import { BOOLEAN, INTEGER, STRING, described, listOf, objectOf, oneOf } from "@meridian/protocol"

import { HOST_CHECK } from "./host-check.ts"
import { defineMeta } from "./operation.ts"

export const REPAIRS = [
  "stale_session_locks",
  "orphan_runs",
  "stale_space_status",
  "interrupted_apply",
  "worktree_leftovers",
] as const
export const FINDINGS = [
  ...REPAIRS,
  "unclaimed_worktrees",
  "missing_or_corrupt_space_json",
  "damaged_log",
  "abandoned_chats",
  "abandoned_runs",
  "unreadable_configuration",
  "damaged_database",
] as const

export const DOCTOR = defineMeta({
  name: "doctor",
  audience: "agent",
  summary: "Run diagnostics checks.",
  tool: "doctor",
  fields: {
    salvage: {
      type: "string",
      description: "Write the readable part of a damaged engine database to this new file.",
      value: "FILE",
      only: "command",
    },
  },
  output: objectOf(
    {
      ok: BOOLEAN,
      repo_root: STRING,
      state_root: STRING,
      spaces_checked: INTEGER,
      runs_checked: INTEGER,
      repaired: listOf(oneOf(...REPAIRS)),
      warnings: listOf(STRING),
      findings: listOf(
        objectOf({ id: oneOf(...FINDINGS), space_id: STRING, what: STRING, repaired: BOOLEAN }),
      ),
      harnesses: listOf(
        objectOf(
          { harness: STRING, found: BOOLEAN },
          {
            path: STRING,
            version: described(STRING, "Where the way it is installed says it; nothing is started."),
            usable: described(BOOLEAN, "Of direct: whether a model can be used that does more than echo."),
            model: described(STRING, "Of direct: the model of a conversation that names none."),
            problem: STRING,
          },
        ),
      ),
      sandbox: objectOf({ usable: BOOLEAN }, { program: STRING, problem: STRING, next: STRING }),
      continuity: listOf(HOST_CHECK),
    },
    {
      salvaged: objectOf(
        {
          from: STRING,
          file: STRING,
          sessions: INTEGER,
          whole: INTEGER,
          events: INTEGER,
          lost: INTEGER,
          cut: listOf(STRING),
        },
        { rest: STRING },
      ),
    },
  ),
  details:
    "Stops chats whose lock is free and removes their lock files, ends runs whose worker is gone, corrects a space whose status contradicts its locks; finishes or takes back an apply that was cut off, removes worktrees, locks and branches that killed runs left (one that holds work nothing else has only when you say so, or with --yes, and a ref keeps it); names harnesses that work on although the command that started them was killed; reports a space.json that is missing or corrupt, damaged lines of a log, and a config.toml or models.toml that cannot be read (space_id '-'), and leaves them. It looks into the engine's database: a page that SQLite cannot read, a log with a hole; --salvage writes what can be read to a new file and never changes the damaged one. Exit code 1 when something is left. Says of every harness whether it is there, and of direct whether it has a model; a harness that is missing is no error. Says whether this machine can make sandboxes, by making one; that it cannot is no error. Under continuity: whether our hook or plugin is in Claude Code, Codex and OpenCode, whether it is current, what it injected last, and what else works on compactions there.",
})
