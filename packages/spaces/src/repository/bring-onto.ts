/**
 * The work of a run as commits on top of another commit. Its own commits are kept one by one if possible, and its
 * uncommitted changes become one more. If that conflicts but all changes together fit, they become one commit.
 */
import { LIMIT } from "../domain/limit.ts"
import type { GitPlace } from "./git.ts"
import { commitsBetween, commitTree, mergeCommits, type ReadCommit } from "./merge.ts"
import type { Head } from "./repository.ts"
import type { Snapshot } from "./snapshot.ts"

export interface BringWish {
  readonly onto: Pick<Head, "commit" | "tree">
  readonly snapshot: Snapshot
  /** The commit the work is based on. */
  readonly base: string
  /** The commit with the user's changes that it began with. They are not part of the work. */
  readonly changes: string | undefined
  /** The message of the commit with its uncommitted changes. */
  readonly message: string
}

export type Brought =
  | { readonly tag: "nothing" }
  | { readonly tag: "brought"; readonly commit: string; readonly commits: number }
  | { readonly tag: "conflict"; readonly paths: readonly string[] }

export const bringOnto = async (place: GitPlace, wish: BringWish): Promise<Brought> => {
  if (wish.changes !== undefined) return await bringWhole(place, wish, wish.changes)
  const own = await ownCommits(place, wish)
  const replayed = own === undefined ? undefined : await replay(place, wish, own)
  if (replayed === undefined) return await bringWhole(place, wish, undefined)
  const { snapshot } = wish
  if (snapshot.isClean) return told(wish, replayed)
  const rest = await carryRest(place, wish, replayed)
  return rest === undefined ? await bringWhole(place, wish, undefined) : told(wish, rest)
}

interface Tip {
  readonly commit: string
  readonly tree: string
  readonly commits: number
}

/** Undefined if there are too many, or if one of them is a merge. */
const ownCommits = async (
  place: GitPlace,
  { onto, snapshot, base }: BringWish,
): Promise<readonly ReadCommit[] | undefined> => {
  if (snapshot.head === base || snapshot.head === onto.commit) return []
  const found = await commitsBetween(place, {
    head: onto.commit,
    tip: snapshot.head,
    most: LIMIT.replayedCommits,
  })
  return found?.some(({ parents }) => parents.length !== 1) === true ? undefined : found
}

const replay = async (
  place: GitPlace,
  { onto }: BringWish,
  own: readonly ReadCommit[],
): Promise<Tip | undefined> => {
  let tip: Tip = { ...onto, commits: 0 }
  for (const commit of own) {
    const [parent = ""] = commit.parents
    if (parent === tip.commit) {
      tip = { commit: commit.id, tree: commit.tree, commits: tip.commits + 1 }
      continue
    }
    const tree = await moved(place, { parent, to: tip, commit: commit.id, isFirst: tip.commits === 0 })
    if (tree === undefined) return undefined
    // The target already has the same change.
    if (tree === tip.tree) continue
    const { message, author } = commit
    const made = await commitTree(place, { tree, parent: tip.commit, message, author })
    tip = { commit: made, tree, commits: tip.commits + 1 }
  }
  return tip
}

/** The tree of a commit on another parent. Undefined if they conflict. */
const moved = async (
  place: GitPlace,
  {
    parent,
    to,
    commit,
    isFirst,
  }: { readonly parent: string; readonly to: Tip; readonly commit: string; readonly isFirst: boolean },
): Promise<string | undefined> => {
  // The first commit of a row merges on the common ancestor. For the others we make up a commit with the right
  // parent.
  const ours = isFirst ? to.commit : await commitTree(place, { tree: to.tree, parent, message: MADE_UP })
  const merged = await mergeCommits(place, ours, commit)
  return merged.tag === "tree" ? merged.tree : undefined
}

const MADE_UP = "meridian"

/** Its uncommitted changes, on top of the commits carried over. */
const carryRest = async (place: GitPlace, wish: BringWish, tip: Tip): Promise<Tip | undefined> => {
  const { snapshot, message } = wish
  if (tip.commit === snapshot.head) {
    const commit = await commitTree(place, { tree: snapshot.tree, parent: tip.commit, message })
    return { commit, tree: snapshot.tree, commits: tip.commits + 1 }
  }
  const rest = await commitTree(place, { tree: snapshot.tree, parent: snapshot.head, message: MADE_UP })
  const tree = await moved(place, {
    parent: snapshot.head,
    to: tip,
    commit: rest,
    isFirst: snapshot.head === wish.base,
  })
  if (tree === undefined) return undefined
  if (tree === tip.tree) return tip
  const commit = await commitTree(place, { tree, parent: tip.commit, message })
  return { commit, tree, commits: tip.commits + 1 }
}

/** All of it as one change. `since`: the commit it is a change of, if that is not a common ancestor. */
const bringWhole = async (
  place: GitPlace,
  { onto, snapshot, message }: BringWish,
  since: string | undefined,
): Promise<Brought> => {
  const parent = since ?? snapshot.head
  const theirs = await commitTree(place, { tree: snapshot.tree, parent, message: MADE_UP })
  const ours =
    since === undefined
      ? onto.commit
      : await commitTree(place, { tree: onto.tree, parent: since, message: MADE_UP })
  const merged = await mergeCommits(place, ours, theirs)
  if (merged.tag === "conflict") return merged
  if (merged.tree === onto.tree) return { tag: "nothing" }
  const commit = await commitTree(place, { tree: merged.tree, parent: onto.commit, message })
  return { tag: "brought", commit, commits: 1 }
}

const told = ({ onto }: BringWish, tip: Tip): Brought =>
  tip.commit === onto.commit
    ? { tag: "nothing" }
    : { tag: "brought", commit: tip.commit, commits: tip.commits }
