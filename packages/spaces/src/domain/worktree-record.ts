/** The event `worktree` of `runs.jsonl`: what became of the worktree of a run. It may come after the run has ended. */
import { BOOLEAN, objectOf, oneOf, RUN_ID, STRING } from "@meridian/protocol"

import type { RecordOf } from "./record.ts"

/** Part of the start record of its run. */
export const WORKTREE = objectOf(
  { path: STRING, branch: STRING, base: STRING, checkout: STRING, repository: STRING },
  { withChanges: BOOLEAN },
)

/**
 *   filled     it is there; `changes`: the commit with the user's uncommitted changes
 *   moved      it is based on another commit now
 *   applied    the checkout has the work, from `from` to `commit`; `staged`: not committed
 *   discarded  thrown away; `kept`: the ref that still has it
 *   removed    folder and branch are gone
 */
export const WORKTREE_EVENT = objectOf(
  {
    event: oneOf("worktree"),
    id: RUN_ID,
    at: STRING,
    what: oneOf("filled", "moved", "applied", "discarded", "removed"),
  },
  { base: STRING, changes: STRING, from: STRING, commit: STRING, staged: BOOLEAN, kept: STRING },
)

export type WorktreeEventRecord = RecordOf<typeof WORKTREE_EVENT>
