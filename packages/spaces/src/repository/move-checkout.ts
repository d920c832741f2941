/**
 * The one step that touches the user's checkout: it moves from one commit to another. Until every file is written,
 * HEAD and the index stay as they were; both change at the end. We hold `index.lock` throughout, so no other git
 * works there.
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
  /** HEAD is somewhere else by now. Nothing was touched. */
  | { readonly tag: "elsewhere" }

/** Throws CHECKOUT_LOCKED and GIT_FAILED; the checkout is then as it was. */
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
 * Throws CHECKOUT_IN_THE_WAY if a file that would be overwritten holds something no commit has. Checked before the
 * move is recorded, so whatever is taken back later was clean before.
 */
export const requireClean = async (checkout: Checkout, changes: readonly FileChange[]): Promise<void> => {
  const paths = changes.map(({ path }) => path)
  const limit = paths.length > MOST_ARGUMENTS ? [] : paths
  const dirty = new Set((await readCheckout(checkout, limit)).paths)
  // Git would overwrite ignored files.
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
  // Refreshes files that only look changed because their times differ.
  await callGit(place, ["update-index", "-q", "--refresh"])
  const second = await callGit(place, args)
  if (second.code === 0) return
  await restoreFiles(checkout, move)
  throw gitFailed(args, second)
}

/** False if HEAD has moved. */
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
    // A file is where a folder is needed: git reports that.
    return false
  }
}

interface OwnFiles {
  readonly index: string
  readonly lock: string
  /** Proves later that the lock is ours: it is the same file. */
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

/** Removes the lock only if it is ours. */
export const unlockIndex = ({ lock, marker, copy }: OwnFiles): void => {
  const [there, ours] = [lstatSync(lock, ABSENT), lstatSync(marker, ABSENT)]
  if (there !== undefined && ours !== undefined && there.ino === ours.ino && there.dev === ours.dev)
    rmSync(lock, { force: true })
  for (const file of [copy, `${copy}.lock`, marker]) rmSync(file, { force: true })
}

const ABSENT = { throwIfNoEntry: false } as const
