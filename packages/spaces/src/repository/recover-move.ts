/** What becomes of a move whose process was killed. */
import { renameSync, existsSync } from "node:fs"

import { callGit } from "./git.ts"
import { ownFiles, unlockIndex } from "./move-checkout.ts"
import type { CheckoutMove } from "./move-journal.ts"
import { bind, readHead, type Repository } from "./repository.ts"
import { restoreFiles } from "./restore-files.ts"
import type { Checkout } from "./snapshot.ts"

export type Recovered =
  /** HEAD had its new commit, so the index follows. */
  | "finished"
  /** Every file is as it was. */
  | "taken-back"
  /** The checkout has changed since, so only our own files were removed. */
  | "left"

/** `repository`: any checkout of it. Called under the lock of applying. */
export const recoverMove = async (
  repository: Pick<Repository, "git">,
  move: CheckoutMove,
): Promise<Recovered> => {
  const own = ownFiles(move)
  const { top, gitDir } = move
  if (!existsSync(gitDir) || !existsSync(top)) return "left"
  const checkout: Checkout = { git: bind(repository.git, { gitDir, top }), top, gitDir }
  try {
    const head = await readHead(checkout.git)
    if (!move.isStaged && head?.commit === move.commit) {
      if (existsSync(own.copy) && existsSync(own.lock)) renameSync(own.copy, own.index)
      return "finished"
    }
    if (head?.commit !== move.head) return "left"
    // A staged move is done once the index has the new tree: then nothing of ours is left, or only the lock.
    if (move.isStaged && !existsSync(own.copy) && (await hasIndex(checkout, move.commit))) return "finished"
    await restoreFiles(checkout, move)
    return "taken-back"
  } finally {
    unlockIndex(own)
  }
}

const hasIndex = async ({ git: place }: Checkout, commit: string): Promise<boolean> => {
  const { code } = await callGit(place, ["diff-index", "--cached", "--quiet", commit])
  return code === 0
}
