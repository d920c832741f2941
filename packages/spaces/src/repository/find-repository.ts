/**
 * Finds the repository of a folder as git does, but without asking git: the nearest `.git` upwards, which is a
 * folder, or a file that names one (linked worktrees, submodules, bare-parent layouts).
 */
import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

import { LIMIT } from "../domain/limit.ts"

export interface RepositoryPlace {
  /** The folder that has the `.git`, canonical. */
  readonly top: string
  readonly gitDir: string
  /** The same, or the one that all linked worktrees share. */
  readonly commonDir: string
}

export const findRepository = (from: string): RepositoryPlace | undefined => {
  let start: string
  try {
    start = realpathSync.native(from)
  } catch {
    return undefined
  }
  for (let top = start; ; top = dirname(top)) {
    const gitDir = gitDirOf(join(top, ".git"))
    if (gitDir !== undefined) return { top, gitDir, commonDir: commonDirOf(gitDir) }
    if (dirname(top) === top) return undefined
  }
}

const gitDirOf = (path: string): string | undefined => {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory() === true) return isGitDir(path) ? realpathSync.native(path) : undefined
  if (stats?.isFile() !== true || stats.size > LIMIT.gitFileBytes) return undefined
  const told = /^gitdir: (.+?)\n?$/s.exec(readFileSync(path, "utf8"))?.[1]
  if (told === undefined) return undefined
  const target = resolve(dirname(path), told)
  return isGitDir(target) ? realpathSync.native(target) : undefined
}

/** An empty `.git` is not a repository. */
const isGitDir = (path: string): boolean =>
  lstatSync(join(path, "HEAD"), { throwIfNoEntry: false }) !== undefined

const commonDirOf = (gitDir: string): string => {
  const told = readSmall(join(gitDir, "commondir"))?.replace(/\n$/, "")
  return told === undefined ? gitDir : realpathSync.native(resolve(gitDir, told))
}

/** Undefined if the file does not exist, is not regular or is too large. */
export const readSmall = (path: string): string | undefined => {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true && stats.size <= LIMIT.gitFileBytes ? readFileSync(path, "utf8") : undefined
}
