/**
 * The worktree of a run: its own checkout on its own branch. Nothing the run does reaches the user's checkout until
 * it is applied. Its place and base are decided here and recorded before git changes anything.
 *
 * Names are lower case, so that they stay distinct on a file system that ignores case.
 */
import type { RunId, SpaceId } from "@meridian/protocol"

import type { WorktreeEventRecord } from "./worktree-record.ts"

export interface RunWorktree {
  /** Absolute, in the user's state folder, outside every checkout. */
  readonly path: string
  /** Without `refs/heads/`. */
  readonly branch: string
  /** The commit the work is based on. */
  readonly base: string
  /** The top of the checkout it was taken from and is applied to. "" for a bare repository. */
  readonly checkout: string
  /** The git folder that all checkouts of the repository share. */
  readonly repository: string
  /** It began with the user's uncommitted changes. */
  readonly withChanges?: boolean
}

export const WORKTREE_STATES = ["open", "applied", "staged", "discarded"] as const

/** Its fate, folded from the log. */
export interface WorktreeState extends RunWorktree {
  readonly state: (typeof WORKTREE_STATES)[number]
  /** The commit with the user's uncommitted changes that it began with. */
  readonly changes?: string | undefined
  /** Once `applied`: the branch's earlier commit, and the commit that brought the work in. */
  readonly from?: string | undefined
  readonly commit?: string | undefined
  /** Once `discarded`: the ref that still has the work. */
  readonly kept?: string | undefined
  /** Folder and branch are gone. */
  readonly isRemoved: boolean
}

export const branchOf = (space: SpaceId, run: RunId): string => `meridian/${space}-${run}`

/** Where discarded work stays reachable. */
export const keptRef = (branch: string): string =>
  `refs/meridian/discarded/${branch.replace("meridian/", "")}`

/** Keeps a worktree's content safe while checks work in it. */
export const heldRef = (branch: string): string => `refs/meridian/held/${branch.replace("meridian/", "")}`

/**
 * `app-3f9a2c81b0de`: readable, and different for every repository. `digest` is of the canonical path of its git
 * folder.
 */
export const repositoryFolder = (name: string, digest: string): string => {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, LONGEST_NAME)
  return `${plain === "" ? "repository" : plain}-${digest.slice(0, DIGEST_CHARACTERS)}`
}

const LONGEST_NAME = 40
const DIGEST_CHARACTERS = 12

export const openWorktree = (worktree: RunWorktree): WorktreeState => ({
  ...worktree,
  state: "open",
  isRemoved: false,
})

/** Applies one event. Applied or discarded work stays so. */
export const applyWorktreeEvent = (
  worktree: WorktreeState,
  { what, base, changes, commit, from, staged, kept }: WorktreeEventRecord,
): WorktreeState => {
  switch (what) {
    case "filled":
      return { ...worktree, changes: changes ?? worktree.changes }
    case "moved":
      return { ...worktree, base: base ?? worktree.base }
    case "applied":
      return {
        ...worktree,
        state: staged === true ? "staged" : "applied",
        from: from ?? worktree.from,
        commit: commit ?? worktree.commit,
      }
    case "discarded":
      return { ...worktree, state: "discarded", kept: kept ?? worktree.kept }
    case "removed":
      return { ...worktree, isRemoved: true }
  }
}
