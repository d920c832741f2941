/**
 * Makes the worktree of a run, and removes it. Its path, branch and base are already on record. A killed process
 * leaves a half-filled worktree in which nobody has worked yet: the next worker removes it and starts over.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"

import { Failure, type RunId } from "@meridian/protocol"

import type { RunWorktree } from "../domain/worktree.ts"
import type { HeldLock } from "../store/lock.ts"
import { readSmall } from "./find-repository.ts"
import { callGit, git, gitFailed, type GitAnswer, type GitPlace } from "./git.ts"
import { writeOwner } from "./leftovers.ts"
import { withRepositoryLock } from "./repository-lock.ts"
import { bind, type Repository } from "./repository.ts"
import { takeSnapshot, type Checkout } from "./snapshot.ts"
import { gitDirOfWorktree, namesIn, type WorktreesPlace } from "./worktree-place.ts"

export interface MakeWorktree {
  readonly run: RunId
  readonly worktree: RunWorktree
  readonly place: WorktreesPlace
  /** The repository of the checkout. */
  readonly repository: Repository
  /** Another worker may have begun it. */
  readonly isAgain: boolean
  /** The folder of the spaces that has the run. */
  readonly owner: string
  readonly uuid: () => string
  readonly cores: number
  readonly signal: AbortSignal
}

/**
 * Throws WORKTREE_TAKEN and GIT_FAILED, and then leaves nothing. Returns the commit with the user's changes, if they
 * came along.
 */
export const makeWorktree = async (wish: MakeWorktree): Promise<string | undefined> => {
  const { worktree, place, repository, run } = wish
  mkdirSync(place.directory, { recursive: true, mode: 0o700 })
  return await withRepositoryLock(place.lock, wish, async (lock) => {
    if (wish.isAgain) await clearHalf(wish, lock)
    if (existsSync(worktree.path)) throw taken(run, worktree.path, `mv ${worktree.path} ELSEWHERE`)
    const args = addCommand(worktree)
    const answer = await callGit(
      { ...repository.git, settings: [...repository.git.settings, ...workers(wish)] },
      args,
      { lock, signal: wish.signal },
    )
    if (answer.code !== 0) {
      const why = whyNot(answer, wish)
      if (why.code !== "WORKTREE_TAKEN") await clearHalf(wish, lock)
      throw why
    }
    try {
      const gitDir = gitDirOfWorktree(repository.commonDir, worktree.path)
      if (gitDir !== undefined) writeOwner(gitDir, wish.owner)
      return worktree.withChanges === true ? await bringChanges(wish, lock) : undefined
    } catch (error) {
      await clearHalf(wish, lock)
      throw error
    }
  })
}

const addCommand = ({ branch, path, base }: RunWorktree): readonly string[] => [
  "worktree",
  "add",
  "--quiet",
  "--no-track",
  "-b",
  branch,
  path,
  base,
]

/** Several git processes write files at once, unless the user configured that. */
const workers = ({ repository, cores }: MakeWorktree): readonly (readonly [string, string])[] =>
  repository.configuration.hasWorkers || cores < 2
    ? []
    : [["checkout.workers", String(Math.min(cores, MOST_WORKERS))]]

const MOST_WORKERS = 8

const whyNot = (answer: GitAnswer, { run, worktree }: MakeWorktree): Failure => {
  const { branch } = worktree
  if (answer.stderr.includes(`branch named '${branch}' already exists`))
    return taken(run, `the branch ${branch}`, `git branch -m ${branch} NAME`)
  const above = /'refs\/heads\/([^']+)' exists/.exec(answer.stderr)?.[1]
  if (above !== undefined) return taken(run, `the branch ${above}`, `git branch -m ${above} NAME`)
  return gitFailed(["worktree", "add"], answer)
}

const taken = (run: RunId, what: string, away: string): Failure =>
  new Failure("WORKTREE_TAKEN", { run, what, away })

/**
 * Brings the user's uncommitted changes as uncommitted changes of the worktree. A ref of ours keeps their commit: the
 * run's work is what differs from it.
 */
const bringChanges = async (
  { run, repository, worktree, uuid }: MakeWorktree,
  lock: HeldLock,
): Promise<string | undefined> => {
  const snapshot = await takeSnapshot(repository, { run, token: uuid() })
  if (snapshot.isClean) return undefined
  const changes = await git(
    repository.git,
    ["commit-tree", snapshot.tree, "-p", worktree.base, "-m", "Uncommitted changes of the checkout"],
    { lock },
  )
  await git(repository.git, ["update-ref", changesRef(worktree), changes], { lock })
  const own = requireCheckout(repository, worktree, run)
  await git(own.git, ["read-tree", "-m", "-u", worktree.base, changes], { lock })
  await git(own.git, ["read-tree", "-m", worktree.base], { lock })
  return changes
}

export const changesRef = ({ branch }: Pick<RunWorktree, "branch">): string =>
  `refs/meridian/changes/${branch.replace("meridian/", "")}`

/** The worktree as a checkout. Undefined if it is gone. */
export const checkoutOf = (
  { git: place, commonDir }: Pick<Repository, "git" | "commonDir">,
  { path }: Pick<RunWorktree, "path">,
): Checkout | undefined => {
  const gitDir = gitDirOfWorktree(commonDir, path)
  if (gitDir === undefined || lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    return undefined
  return { git: bind(place, { gitDir, top: path }), top: path, gitDir }
}

/** Throws WORKTREE_GONE. */
export const requireCheckout = (
  repository: Pick<Repository, "git" | "commonDir">,
  worktree: RunWorktree,
  run: RunId,
): Checkout => {
  const found = checkoutOf(repository, worktree)
  if (found === undefined)
    throw new Failure("WORKTREE_GONE", {
      run,
      why: `nothing is at ${worktree.path}`,
      next: `'git log ${worktree.branch}' shows what it committed; 'meridian run discard ${run}' forgets the rest.`,
    })
  return found
}

/** Removes a worktree that was made but never used. */
export const unmakeWorktree = (wish: MakeWorktree): Promise<void> =>
  withRepositoryLock(wish.place.lock, { signal: new AbortController().signal }, (lock) =>
    clearHalf(wish, lock),
  )

/** Removes only what we made ourselves: a branch that is still where it began, a folder that is empty or git's own. */
const clearHalf = async (
  { worktree, repository, place, uuid, run }: MakeWorktree,
  lock: HeldLock,
): Promise<void> => {
  const { path, branch, base } = worktree
  if (existsSync(path) && !isOurs(repository.commonDir, path)) throw taken(run, path, `mv ${path} ELSEWHERE`)
  dropWorktree({ path, commonDir: repository.commonDir, place, uuid })
  await deleteRef(repository.git, { ref: changesRef(worktree), lock })
  await deleteRef(repository.git, { ref: `refs/heads/${branch}`, at: base, lock })
}

const isOurs = (commonDir: string, path: string): boolean => {
  if (!lstatSync(path).isDirectory()) return false
  if (readdirSync(path).length === 0) return true
  const told = readSmall(join(path, ".git")) ?? ""
  return told.startsWith(`gitdir: ${join(commonDir, "worktrees")}/`)
}

/** Leaves a ref alone if it is missing or has moved. */
const deleteRef = async (
  place: GitPlace,
  { ref, at, lock }: { readonly ref: string; readonly at?: string; readonly lock: HeldLock },
): Promise<void> => {
  await callGit(place, ["update-ref", "-d", ref, ...(at === undefined ? [] : [at])], { lock })
}

/**
 * Removes the folder at once, along with git's record of it. Its files are deleted later: a large folder takes longer
 * than a user wants to wait.
 */
export const dropWorktree = ({
  path,
  commonDir,
  place,
  uuid,
}: {
  readonly path: string
  readonly commonDir: string
  readonly place: WorktreesPlace
  readonly uuid: () => string
}): void => {
  const gitDir = gitDirOfWorktree(commonDir, path)
  if (existsSync(path)) {
    mkdirSync(place.trash, { recursive: true, mode: 0o700 })
    renameSync(path, join(place.trash, uuid()))
  }
  if (gitDir !== undefined && dirname(gitDir) === join(commonDir, "worktrees"))
    rmSync(gitDir, { recursive: true, force: true })
}

/** Includes what a killed process left there. */
export const trashOf = (place: WorktreesPlace): readonly string[] =>
  namesIn(place.trash).map((name) => join(place.trash, name))
