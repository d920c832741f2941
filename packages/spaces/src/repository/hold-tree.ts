/**
 * Holds the files of a worktree at one tree while checks look at them, then puts them back. HEAD and index of the
 * worktree stay as they are. A ref keeps what was there, and the files to bring in are recorded before the first of
 * them is touched, so a killed process loses nothing (`held-journal.ts`).
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { Failure } from "@meridian/protocol"

import { callGit, git } from "./git.ts"
import { forgetHeld, writeHeld } from "./held-journal.ts"
import { commitTree } from "./merge.ts"
import { takeSnapshot, withIndexCopy, withSnapshotIndex, type Checkout, type Snapshot } from "./snapshot.ts"
import type { WorktreesPlace } from "./worktree-place.ts"

export interface HoldWish {
  /** The worktree as it is. */
  readonly snapshot: Snapshot
  /** The commit whose files it gets. Undefined: its own. */
  readonly commit: string | undefined
  /** The ref that keeps what was there. */
  readonly ref: string
  readonly place: WorktreesPlace
  readonly run: string
  readonly uuid: () => string
}

export interface HeldTree {
  /** Undoes any change to the files since. */
  readonly putBack: () => Promise<void>
  /** Restores the files as they were before. Throws WORKTREE_NOT_RESTORED; the ref still has them. */
  readonly release: () => Promise<void>
}

export const holdTree = async (checkout: Checkout, wish: HoldWish): Promise<HeldTree> => {
  const { snapshot, run, uuid, place, ref } = wish
  const kept = snapshot.isClean
    ? snapshot.head
    : await commitTree(checkout.git, { tree: snapshot.tree, parent: snapshot.head, message: "meridian" })
  await git(checkout.git, ["update-ref", ref, kept])
  const own = await treeOf(checkout, kept)
  const held = wish.commit === undefined ? own : await treeOf(checkout, wish.commit)
  const become = async (tree: string): Promise<void> => {
    repairFolder(checkout)
    const now = await takeSnapshot(checkout, { run, token: uuid() }).catch(async (error: unknown) => {
      if (!(error instanceof Failure && error.code === "WORKTREE_TOO_LARGE")) throw error
      await removeNewFiles(checkout, { tree, token: uuid() })
      return await takeSnapshot(checkout, { run, token: uuid() })
    })
    if (now.isClean && now.tree === tree) return
    await withSnapshotIndex(checkout, { snapshot: now, token: uuid() }, async (within) => {
      if ((await git(within, ["write-tree"])) !== tree)
        await git(within, ["read-tree", "-m", "-u", now.tree, tree])
    })
  }
  const isMoved = held !== own
  if (isMoved) writeHeld(place, { top: checkout.top, gitDir: checkout.gitDir, kept, held, ref })
  const release = async (): Promise<void> => {
    try {
      await become(own)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      throw new Failure("WORKTREE_NOT_RESTORED", { run, reason: error.message, ref }, { cause: error })
    }
    if (isMoved) forgetHeld(place)
    await callGit(checkout.git, ["update-ref", "-d", ref])
  }
  try {
    if (isMoved) await become(held)
  } catch (error) {
    await release()
    throw error
  }
  return { putBack: () => become(held), release }
}

const treeOf = (checkout: Checkout, commit: string): Promise<string> =>
  git(checkout.git, ["rev-parse", "--verify", `${commit}^{tree}`])

/** Removes new files that a check wrote, without reading them: there may be more than we would read. */
const removeNewFiles = async (
  checkout: Checkout,
  { tree, token }: { readonly tree: string; readonly token: string },
): Promise<void> => {
  const names = await withIndexCopy(checkout, token, async (within) => {
    await git(within, ["read-tree", tree])
    return await git(within, ["ls-files", "-z", "--others", "--exclude-standard"])
  })
  for (const name of names.split("\0"))
    if (name !== "") rmSync(join(checkout.top, name), { recursive: true, force: true })
}

/** A check may have deleted the folder it ran in. */
const repairFolder = ({ top, gitDir }: Checkout): void => {
  mkdirSync(top, { recursive: true })
  const file = join(top, ".git")
  if (!existsSync(file)) writeFileSync(file, `gitdir: ${gitDir}\n`)
}
