/**
 * The work of a run, wherever it is by now: in its worktree, in the branch it became part of, or under the ref of
 * discarded work.
 */
import { dirname } from "node:path"

import { Failure, type RunId } from "@meridian/protocol"

import type { WorktreeState } from "../domain/worktree.ts"
import { callGit, gitFailed, type GitPlace } from "./git.ts"
import { readHeld } from "./held-journal.ts"
import { checkoutOf } from "./make-worktree.ts"
import type { Repository } from "./repository.ts"
import { takeSnapshot } from "./snapshot.ts"
import { worktreesIn } from "./worktree-place.ts"

/** Two trees: the one the run began with, and the one it made. */
export interface WorkRange {
  readonly from: string
  readonly to: string
  /** Repositories in the worktree that are not part of the work. */
  readonly nested: readonly string[]
}

/** Throws WORKTREE_GONE if nothing of it is left. */
export const rangeOf = async (
  repository: Repository,
  { run, worktree, token }: { readonly run: RunId; readonly worktree: WorktreeState; readonly token: string },
): Promise<WorkRange> => {
  if (worktree.commit !== undefined && worktree.from !== undefined)
    return { from: worktree.from, to: worktree.commit, nested: [] }
  const checkout = worktree.isRemoved ? undefined : checkoutOf(repository, worktree)
  if (checkout === undefined) {
    const tip = await commitAt(repository.git, [worktree.kept, `refs/heads/${worktree.branch}`])
    if (tip === undefined)
      throw new Failure("WORKTREE_GONE", {
        run,
        why: `neither ${worktree.path} nor the branch ${worktree.branch} is there`,
        next: "look at its report; nothing else is left of it.",
      })
    return { from: await startOf(repository, worktree, tip), to: tip, nested: [] }
  }
  const held = readHeld(worktreesIn(dirname(worktree.path)))
  // While checks work there, or after a check was killed, the worktree holds other files.
  if (held?.gitDir === checkout.gitDir)
    return { from: await startOf(repository, worktree, held.kept), to: held.kept, nested: [] }
  const { head, tree, nested } = await takeSnapshot(checkout, { run, token })
  return { from: await startOf(repository, worktree, head), to: tree, nested }
}

/** What the work is based on now. The run or a person may have rebased it onto another commit. */
export const startOf = async (
  { git: place, head }: Pick<Repository, "git" | "head">,
  { base, changes }: Pick<WorktreeState, "base" | "changes">,
  tip: string,
): Promise<string> => {
  if (changes !== undefined) return changes
  if (tip === base || head === undefined) return base
  const { code, stdout } = await callGit(place, ["merge-base", head.commit, tip])
  return code === 0 ? stdout.toString("utf8").trim() : base
}

const commitAt = async (
  place: GitPlace,
  refs: readonly (string | undefined)[],
): Promise<string | undefined> => {
  for (const ref of refs) {
    if (ref === undefined) continue
    const { code, stdout } = await callGit(place, ["rev-parse", "--quiet", "--verify", `${ref}^{commit}`])
    if (code === 0) return stdout.toString("utf8").trim()
  }
  return undefined
}

/** Keeps git from starting programs that the repository names. */
const PLAIN = ["--no-color", "--no-ext-diff", "--no-textconv"] as const

export const diffText = async (
  place: GitPlace,
  { from, to }: WorkRange,
  how: readonly string[],
): Promise<string> => {
  const args = ["diff", ...PLAIN, ...how, from, to]
  const answer = await callGit(place, args)
  if (answer.code !== 0) throw gitFailed(args, answer)
  return answer.stdout.toString("utf8").replace(/\n$/, "")
}

/** Output for `readDiff`. `isCut`: it was longer than the bound. */
export const diffParts = async (
  place: GitPlace,
  { from, to }: WorkRange,
  maxBytes: number,
): Promise<{ readonly answer: string; readonly isCut: boolean }> => {
  const { stdout, isCut } = await callGit(
    place,
    [
      "diff",
      ...PLAIN,
      "-z",
      "--raw",
      "--numstat",
      "--patch",
      "--full-index",
      "--find-renames",
      "--src-prefix=a/",
      "--dst-prefix=b/",
      from,
      to,
    ],
    { maxBytes },
  )
  return { answer: stdout.toString("utf8"), isCut }
}
