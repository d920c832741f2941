/**
 * The work of a run over HTTP: the answers of `run diff`, `run apply`, `run discard` and `run send` in camelCase, without
 * directories of the server. A test compares them with the operations.
 */
import {
  BOOLEAN,
  COUNT,
  described,
  INTEGER,
  integer,
  listOf,
  named,
  objectOf,
  oneOf,
  STRING,
  text,
  type TypeOf,
} from "@meridian/protocol"

import { RUN_STATUS } from "./spaces.ts"

const HUNK = named(
  "DiffHunk",
  objectOf({
    oldStart: INTEGER,
    oldLines: INTEGER,
    newStart: INTEGER,
    newLines: INTEGER,
    heading: STRING,
    /** Each line starts with its sign: a space, `+`, `-` or a backslash. */
    lines: listOf(STRING),
  }),
)

const DIFF_FILE = named(
  "DiffFile",
  objectOf(
    {
      path: STRING,
      change: oneOf("added", "deleted", "modified", "renamed", "copied", "type-changed"),
      additions: INTEGER,
      deletions: INTEGER,
      hunks: listOf(HUNK),
    },
    { oldPath: STRING, binary: BOOLEAN },
  ),
)

export const RUN_DIFF = named(
  "RunDiff",
  objectOf(
    { runId: STRING, from: STRING, to: STRING, files: listOf(DIFF_FILE) },
    { text: STRING, isCut: BOOLEAN, isOpen: BOOLEAN, besides: listOf(STRING), nested: listOf(STRING) },
  ),
)

/** A failed apply is reported as a failure. `warnings` hold what the user should know after a successful one. */
export const RUN_APPLIED = named(
  "RunApplied",
  objectOf(
    {
      applied: listOf(
        objectOf(
          { runId: STRING, commits: INTEGER, files: listOf(STRING) },
          { commit: STRING, branch: STRING, checks: INTEGER },
        ),
      ),
      left: listOf(objectOf({ runId: STRING, code: STRING, message: STRING, next: STRING })),
      staged: BOOLEAN,
    },
    { warnings: listOf(STRING) },
  ),
)

export const RUN_DISCARDED = named(
  "RunDiscarded",
  objectOf({ discarded: listOf(objectOf({ runId: STRING, kept: STRING, files: INTEGER })) }),
)

export const RUN_TOLD = named("RunTold", objectOf({ runId: STRING, status: RUN_STATUS, waitingWords: COUNT }))

export const RUN_RESUMED = named("RunResumed", objectOf({ runId: STRING, status: RUN_STATUS }))

export const RUN_CONTINUED = named("RunContinued", objectOf({ runId: STRING }))

/** A line of a diff, as the subject of a comment. */
export const DIFF_LINE = objectOf(
  {
    path: text({ most: 4_096 }),
    line: described(integer(1, 2_147_483_647), "In the file as the run left it."),
  },
  {
    removed: described(
      BOOLEAN,
      "True for a line that the run removed. Its number then refers to the old file.",
    ),
    code: described(text({ most: 2_000 }), "The text of the line."),
  },
)

export type RunDiffDocument = TypeOf<typeof RUN_DIFF>
export type DiffFile = TypeOf<typeof DIFF_FILE>
export type DiffHunk = TypeOf<typeof HUNK>
export type RunAppliedDocument = TypeOf<typeof RUN_APPLIED>
export type RunDiscardedDocument = TypeOf<typeof RUN_DISCARDED>
export type RunResumedDocument = TypeOf<typeof RUN_RESUMED>
export type RunToldDocument = TypeOf<typeof RUN_TOLD>
export type CommentedLine = TypeOf<typeof DIFF_LINE>
