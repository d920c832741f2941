/** Finds and removes what killed processes of ours leave in a repository. Called under both locks of the repository. */
import { existsSync, lstatSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

import { isJsonObject } from "@meridian/protocol"

import { decodeJson, text } from "../domain/json-line.ts"
import { readSmall } from "./find-repository.ts"
import { callGit } from "./git.ts"
import type { Repository } from "./repository.ts"
import type { Checkout } from "./snapshot.ts"
import { namesIn, type WorktreesPlace } from "./worktree-place.ts"

const OWNER = "meridian.json"

/** Kept beside git's record of a worktree: the project that has the run on record. */
export const writeOwner = (gitDir: string, spaces: string): void =>
  writeFileSync(join(gitDir, OWNER), `${JSON.stringify({ spaces })}\n`)

export const readOwner = (gitDir: string): string | undefined => {
  const fields = decodeJson(readSmall(join(gitDir, OWNER)) ?? "")
  return isJsonObject(fields) ? text(fields, "spaces") : undefined
}

/** Whether only `branch` leads to these commits. */
export const hasOwnCommits = async (
  { git }: Pick<Repository, "git">,
  { tip, branch }: { readonly tip: string; readonly branch: string },
): Promise<boolean> => {
  const others = [`--exclude=refs/heads/${branch}`, "--exclude=refs/meridian/held/*", "--all"]
  const { code, stdout } = await callGit(git, ["rev-list", "--max-count=1", tip, "--not", ...others])
  return code !== 0 || stdout.length > 0
}

/** Makes git forget our worktrees whose folder is gone. Returns how many. */
export const forgetGone = (commonDir: string, place: WorktreesPlace): number => {
  const folder = join(commonDir, "worktrees")
  const gone = namesIn(folder).filter((name) => {
    const told = readSmall(join(folder, name, "gitdir"))?.trim()
    if (told === undefined) return false
    const path = dirname(resolve(folder, name, told))
    return dirname(path) === place.directory && !existsSync(path)
  })
  for (const name of gone) rmSync(join(folder, name), { recursive: true, force: true })
  return gone.length
}

/** No process of ours needs one for that long. */
const OLD_MS = 600_000

/** Copies of an index, and the lock of a killed process of ours: it is the same file as our marker. */
export const removeOwnFiles = ({ gitDir }: Pick<Checkout, "gitDir">, nowMs: number): readonly string[] => {
  const own = namesIn(gitDir)
    .filter((name) => /^meridian-[0-9a-f-]{36}\.(?:index|lock|restore)(?:\.lock)?$/.test(name))
    .map((name) => join(gitDir, name))
    .filter((path) => nowMs - (lstatSync(path, { throwIfNoEntry: false })?.ctimeMs ?? nowMs) > OLD_MS)
  const lock = join(gitDir, "index.lock")
  const held = lstatSync(lock, { throwIfNoEntry: false })
  const removed = own.flatMap((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    const isLock = held !== undefined && stats?.ino === held.ino && stats.dev === held.dev
    rmSync(path, { force: true })
    if (!isLock) return [path]
    rmSync(lock, { force: true })
    return [path, lock]
  })
  return removed
}
