/**
 * The one step that touches the user's checkout: it is moved from one commit to another. Until every file is written, HEAD and the
 * index are as they were, and both change at the end. Meanwhile `index.lock` is ours, so that no other git works in there.
 */
import { linkSync, lstatSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { Failure, systemCode } from "@meridian/protocol"

import type { FileChange } from "./changes.ts"
import { callGit, gitFailed, type GitPlace } from "./git.ts"
import type { CheckoutMove } from "./move-journal.ts"
import { restoreFiles } from "./restore-files.ts"
import { copyIndex, readCheckout, type Checkout } from "./snapshot.ts"

export type Moved =
  | { readonly tag: "moved" }
  /** HEAD is somewhere else by now; nothing was touched. */
  | { readonly tag: "elsewhere" }

/** Throws CHECKOUT_LOCKED and GIT_FAILED; the checkout is as it was then. */
export const moveCheckout = async (
  checkout: Checkout,
  move: CheckoutMove,
  reason: string,
): Promise<Moved> => {
  const own = ownFiles(move)
  lockIndex(checkout, own)
  try {
    copyIndex(own.index, own.copy)
    await writeFiles(checkout, move, own.copy)
    if (!move.isStaged && !(await moveHead(checkout.git, move, reason))) {
      await restoreFiles(checkout, move)
      return { tag: "elsewhere" }
    }
    renameSync(own.copy, own.index)
    return { tag: "moved" }
  } finally {
    unlockIndex(own)
  }
}

/**
 * Throws CHECKOUT_IN_THE_WAY when a file that would be written holds something that no commit has. Asked before the move is
 * written down: whatever is taken back later was clean before.
 */
export const requireClean = async (checkout: Checkout, changes: readonly FileChange[]): Promise<void> => {
  const paths = changes.map(({ path }) => path)
  const limit = paths.length > MOST_ARGUMENTS ? [] : paths
  const dirty = new Set((await readCheckout(checkout, limit)).paths)
  // Git would overwrite files that it ignores.
  const inTheWay = changes.filter(
    ({ path, before }) => dirty.has(path) || (before === undefined && isFile(join(checkout.top, path))),
  )
  if (inTheWay.length === 0) return
  const named = inTheWay.slice(0, MOST_NAMED).map(({ path }) => path)
  const more = inTheWay.length > MOST_NAMED ? ` and ${inTheWay.length - MOST_NAMED} more` : ""
  throw new Failure("CHECKOUT_IN_THE_WAY", { checkout: checkout.top, files: `${named.join(", ")}${more}` })
}

const MOST_NAMED = 10
const MOST_ARGUMENTS = 500

const writeFiles = async (checkout: Checkout, move: CheckoutMove, copy: string): Promise<void> => {
  const place: GitPlace = { ...checkout.git, env: { ...checkout.git.env, GIT_INDEX_FILE: copy } }
  const args = ["read-tree", "-m", "-u", move.head, move.commit]
  const first = await callGit(place, args)
  if (first.code === 0) return
  // Files that only look changed, because their times are others.
  await callGit(place, ["update-index", "-q", "--refresh"])
  const second = await callGit(place, args)
  if (second.code === 0) return
  await restoreFiles(checkout, move)
  throw gitFailed(args, second)
}

/** False when HEAD is not what it was. */
const moveHead = async (
  place: GitPlace,
  { head, commit }: CheckoutMove,
  reason: string,
): Promise<boolean> => {
  const { code } = await callGit(place, ["update-ref", "-m", reason, "HEAD", commit, head])
  return code === 0
}

const isFile = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false
  } catch {
    // A file stands where a folder is needed: git says so.
    return false
  }
}

interface OwnFiles {
  readonly index: string
  readonly lock: string
  /** What shows later that the lock is ours: the same file. */
  readonly marker: string
  readonly copy: string
}

export const ownFiles = ({ gitDir, token }: Pick<CheckoutMove, "gitDir" | "token">): OwnFiles => ({
  index: join(gitDir, "index"),
  lock: join(gitDir, "index.lock"),
  marker: join(gitDir, `meridian-${token}.lock`),
  copy: join(gitDir, `meridian-${token}.index`),
})

const lockIndex = ({ top }: Checkout, { lock, marker }: OwnFiles): void => {
  writeFileSync(marker, "")
  try {
    linkSync(marker, lock)
  } catch (error) {
    rmSync(marker, { force: true })
    if (systemCode(error) === "EEXIST") throw new Failure("CHECKOUT_LOCKED", { checkout: top, lock })
    throw error
  }
}

/** Only ours. */
export const unlockIndex = ({ lock, marker, copy }: OwnFiles): void => {
  const [there, ours] = [lstatSync(lock, ABSENT), lstatSync(marker, ABSENT)]
  if (there !== undefined && ours !== undefined && there.ino === ours.ino && there.dev === ours.dev)
    rmSync(lock, { force: true })
  for (const file of [copy, `${copy}.lock`, marker]) rmSync(file, { force: true })
}

const ABSENT = { throwIfNoEntry: false } as const
