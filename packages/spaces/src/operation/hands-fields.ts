/** What every operation on worktrees, checks and their runs says in the same words. */
import { objectOf, oneOf, STRING, type TypeOf } from "@meridian/protocol"

import { WORKTREE_STATES } from "../domain/worktree.ts"
import type { Field } from "./field.ts"

export const WORKTREE_FIELD = {
  type: "boolean",
  description: "Work in a worktree of its own: your checkout changes when you apply the run.",
} as const satisfies Field

export const WITH_CHANGES_FIELD = {
  type: "boolean",
  description: "Take your uncommitted changes along into the worktree.",
} as const satisfies Field

/** `state`: what became of it. `base`: the commit it stands on. */
export const WORKTREE_DOCUMENT = objectOf(
  { path: STRING, branch: STRING, base: STRING, state: oneOf(...WORKTREE_STATES) },
  { commit: STRING, kept: STRING },
)
export type WorktreeDocument = TypeOf<typeof WORKTREE_DOCUMENT>
