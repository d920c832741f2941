/**
 * Where the worktrees of runs are, and the folder git keeps for each:
 *
 *   $XDG_STATE_HOME/meridian/worktrees/<repository>/lock            held while shared state of git changes
 *                                                  /apply.lock      held while a run is applied
 *                                                  /writers/<uuid>  a run that writes into a checkout of it
 *                                                  /trash/<uuid>    what is being deleted
 *                                                  /<space>-<run>   a worktree
 */
import { createHash } from "node:crypto"
import { readdirSync, realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"

import { Failure } from "@meridian/protocol"

import { repositoryFolder } from "../domain/worktree.ts"
import { userStateFile } from "../store/user-place.ts"
import { readSmall } from "./find-repository.ts"

export interface WorktreesPlace {
  readonly directory: string
  readonly lock: string
  readonly applyLock: string
  readonly writers: string
  readonly trash: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** The folder of all repositories' worktrees. Undefined if the environment names no home. */
export const allWorktrees = (env: Environment): string | undefined => userStateFile(env, "worktrees")

/** Throws WORKTREE_NO_PLACE. */
export const worktreesPlace = (env: Environment, repository: string): WorktreesPlace => {
  const all = allWorktrees(env)
  if (all === undefined) throw new Failure("WORKTREE_NO_PLACE")
  const digest = createHash("sha256").update(repository).digest("hex")
  return worktreesIn(join(all, repositoryFolder(nameOf(repository), digest)))
}

export const worktreesIn = (directory: string): WorktreesPlace => ({
  directory,
  lock: join(directory, "lock"),
  applyLock: join(directory, "apply.lock"),
  writers: join(directory, "writers"),
  trash: join(directory, "trash"),
})

/** `app` for `/home/me/app/.git`, `/home/me/app/.bare` and `/home/me/app.git`. */
const nameOf = (repository: string): string => {
  const name = basename(repository)
  return name.startsWith(".") ? basename(dirname(repository)) : name.replace(/\.git$/, "")
}

/**
 * The git folder of the worktree at this path, from git's own records and not from the `.git` file in the worktree,
 * which an agent can write. Undefined if git knows no such worktree.
 */
export const gitDirOfWorktree = (repository: string, path: string): string | undefined => {
  const folder = join(repository, "worktrees")
  const file = join(canonical(path), ".git")
  const isIts = (name: string): boolean => {
    const told = readSmall(join(folder, name, "gitdir"))?.replace(/\n$/, "")
    return told !== undefined && resolve(folder, name, told) === file
  }
  const names = namesIn(folder)
  const found = names.find((name) => name === basename(path) && isIts(name)) ?? names.find(isIts)
  return found === undefined ? undefined : join(folder, found)
}

/** Works for a missing folder too. */
const canonical = (path: string): string => {
  try {
    return join(realpathSync.native(dirname(path)), basename(path))
  } catch {
    return path
  }
}

export const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
