/** Operations on the worktrees of runs: look, take over, throw away. */
import { BOOLEAN, INTEGER, STRING, listOf, objectOf, oneOf } from "@meridian/protocol"

import { FILE_CHANGES } from "../domain/diff.ts"
import { COMPARED_RUN } from "./hands-fields.ts"
import { defineMeta } from "./operation.ts"
import { RUN_FIELD } from "./run-schema.ts"
import { SPACE_FIELD } from "./space-context.ts"

const ONE_RUN = { ...RUN_FIELD, required: true } as const

export const RUN_DIFF = defineMeta({
  name: "run.diff",
  audience: "agent",
  summary: "Show what a run changed.",
  tool: "run_diff",
  format: "text",
  fields: {
    runId: ONE_RUN,
    stat: { type: "boolean", description: "Only how much of each file changed.", only: "command" },
    nameOnly: { type: "boolean", description: "Only the names of the files.", only: "command" },
    space: SPACE_FIELD,
  },
  output: objectOf(
    {
      run_id: STRING,
      from: STRING,
      to: STRING,
      files: listOf(
        objectOf(
          {
            path: STRING,
            change: oneOf(...FILE_CHANGES),
            additions: INTEGER,
            deletions: INTEGER,
            hunks: listOf(
              objectOf({
                old_start: INTEGER,
                old_lines: INTEGER,
                new_start: INTEGER,
                new_lines: INTEGER,
                heading: STRING,
                lines: listOf(STRING),
              }),
            ),
          },
          { old_path: STRING, binary: BOOLEAN },
        ),
      ),
    },
    { text: STRING, is_cut: BOOLEAN, is_open: BOOLEAN, besides: listOf(STRING), nested: listOf(STRING) },
  ),
  details:
    "Everything that differs from the commit the run began with: its commits, its uncommitted changes, and new files that are not ignored. For an applied run: what applying it brought. For a run without a worktree: how its checkout differs between its beginning and its end, including changes that others made there in that time.",
  examples: ["run diff r3", "run diff @latest --stat"],
})

export const RUN_WORKTREE = defineMeta({
  name: "run.worktree",
  audience: "agent",
  summary: "Print the path of a run's worktree.",
  tool: "run_worktree",
  format: "text",
  fields: { runId: ONE_RUN, space: SPACE_FIELD },
  output: objectOf({ run_id: STRING, path: STRING, branch: STRING, base: STRING }),
  examples: ['cd "$(meridian run worktree r3)"'],
})

export const RUN_APPLY = defineMeta({
  name: "run.apply",
  audience: "agent",
  summary: "Take the work of runs over into the checkout they were spawned from.",
  tool: "run_apply",
  format: "text",
  fields: {
    runIds: {
      type: "strings",
      description: "Run ids, or @latest, @last-completed; applied in this order.",
      positional: "rest",
      value: "RUN",
    },
    all: {
      type: "boolean",
      description: "Every run of the space that succeeded, in the order that conflicts least.",
    },
    discardRest: {
      type: "boolean",
      description: "Then throw away the others that --best-of spawned with it.",
    },
    noCommit: { type: "boolean", description: "Leave the changes staged instead of committing them." },
    force: { type: "boolean", description: "Apply a run even if its checks are red; no check runs." },
    space: SPACE_FIELD,
  },
  output: objectOf({
    applied: listOf(
      objectOf(
        { run_id: STRING, commits: INTEGER, files: listOf(STRING) },
        { commit: STRING, branch: STRING, checks: INTEGER },
      ),
    ),
    left: listOf(objectOf({ run_id: STRING, code: STRING, message: STRING, next: STRING })),
    staged: BOOLEAN,
    discarded: listOf(STRING),
  }),
  details:
    "One run at a time: its work is brought onto the current branch, its checks run on exactly that, and only then your checkout moves. After a conflict, red checks or uncommitted changes in the way, nothing has changed, and the run is named. Runs named after a failed one are not tried; with --all the others are. The worktree and its branch are removed afterwards. Exit code 1 if a run was not applied.",
  examples: ["run apply r3", "run apply --all", "run apply r3 --no-commit"],
})

export const RUN_DISCARD = defineMeta({
  name: "run.discard",
  audience: "agent",
  summary: "Throw the work of runs away.",
  tool: "run_discard",
  format: "text",
  fields: {
    runIds: { type: "strings", description: "Run ids.", positional: "rest", value: "RUN" },
    space: SPACE_FIELD,
  },
  output: objectOf({
    discarded: listOf(objectOf({ run_id: STRING, kept: STRING, files: INTEGER })),
  }),
  details:
    "Worktree and branch are removed. The work stays reachable as refs/meridian/discarded/SPACE-RUN until you delete that ref, so 'git branch NAME REF' brings it back.",
  examples: ["run discard r4 r5"],
})

export const RUN_COMPARE = defineMeta({
  name: "run.compare",
  audience: "agent",
  summary: "Compare runs at the same task.",
  tool: "run_compare",
  format: "text",
  fields: {
    runIds: {
      type: "strings",
      description:
        "Runs to compare; a single one means all that --best-of spawned with it. Default: the newest such runs.",
      positional: "rest",
      value: "RUN",
    },
    space: SPACE_FIELD,
  },
  output: objectOf({ runs: listOf(COMPARED_RUN) }),
  details:
    "One row for each: status, verdict of its checks, what it changed, cost, time, model. The best one is verified and left the files of its checks alone; among several, the cheapest, then the quickest.",
  examples: ["run compare", "run compare r3 r4"],
})
