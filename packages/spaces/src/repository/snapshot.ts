/**
 * A checkout as it is, as a tree of git: commits, staged and unstaged changes, and new files that are not ignored.
 * Index and files are only read: git works on a copy of the index.
 */
import { copyFileSync, existsSync, lstatSync, rmSync, utimesSync } from "node:fs"
import { join } from "node:path"

import { Failure } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"
import { readStatus, type Status } from "../domain/status.ts"
import { git, type GitPlace } from "./git.ts"

export interface Checkout {
  readonly git: GitPlace
  readonly top: string
  readonly gitDir: string
}

export interface Snapshot {
  readonly head: string
  readonly tree: string
  /** The tree equals that of HEAD. */
  readonly isClean: boolean
  /** Paths that differ from HEAD. */
  readonly paths: readonly string[]
  readonly nested: readonly string[]
}

/** `paths` limits the answer; [] means all. */
export const readCheckout = async (
  { git: place }: Pick<Checkout, "git">,
  paths: readonly string[] = [],
): Promise<Status> =>
  readStatus(
    await git(place, [
      "--literal-pathspecs",
      "status",
      "--porcelain=v2",
      "--branch",
      "-z",
      "--no-renames",
      "--untracked-files=all",
      "--ignore-submodules=dirty",
      "--",
      ...paths,
    ]),
  )

/** `who` names the snapshot's run in failures. Throws WORKTREE_TOO_LARGE. */
export const takeSnapshot = async (
  checkout: Checkout,
  who: { readonly run: string; readonly token: string },
): Promise<Snapshot> => {
  const status = await readCheckout(checkout)
  const { head, paths, nested } = status
  if (paths.length === 0) return { head, tree: `${head}^{tree}`, isClean: true, paths, nested }
  requireRoom(checkout.top, paths, who.run)
  const tree = await withSnapshotIndex(checkout, { snapshot: { paths }, token: who.token }, (place) =>
    git(place, ["write-tree"]),
  )
  return { head, tree, isClean: false, paths, nested }
}

/** Git with an index that has the snapshot and knows its files. */
export const withSnapshotIndex = <T>(
  checkout: Checkout,
  { snapshot, token }: { readonly snapshot: Pick<Snapshot, "paths">; readonly token: string },
  body: (place: GitPlace) => Promise<T>,
): Promise<T> =>
  withIndexCopy(checkout, token, async (place) => {
    if (snapshot.paths.length > 0)
      await git(place, ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"], {
        input: snapshot.paths.map((path) => `${path}\0`).join(""),
      })
    return await body(place)
  })

/** Git with a copy of the index instead of the index. */
export const withIndexCopy = async <T>(
  { git: place, gitDir }: Pick<Checkout, "git" | "gitDir">,
  token: string,
  body: (place: GitPlace) => Promise<T>,
): Promise<T> => {
  const copy = join(gitDir, `meridian-${token}.index`)
  try {
    copyIndex(join(gitDir, "index"), copy)
    return await body({ ...place, env: { ...place.env, GIT_INDEX_FILE: copy } })
  } finally {
    for (const file of [copy, `${copy}.lock`]) rmSync(file, { force: true })
  }
}

/**
 * Git takes an entry as unchanged if it is older than the index, so the copy must not look younger than the original.
 * Times are rounded down on the way.
 */
export const copyIndex = (from: string, to: string): void => {
  if (!existsSync(from)) return
  const { mtimeMs } = lstatSync(from)
  copyFileSync(from, to)
  utimesSync(to, Math.floor(mtimeMs / 1000), Math.floor(mtimeMs / 1000))
}

const requireRoom = (top: string, paths: readonly string[], run: string): void => {
  if (paths.length > LIMIT.worktreeFiles)
    throw new Failure("WORKTREE_TOO_LARGE", {
      run,
      path: top,
      what: "The new and changed files",
      files: `${paths.length} files`,
    })
  const sized = paths.map((path) => ({
    path,
    bytes: lstatSync(join(top, path), { throwIfNoEntry: false })?.size ?? 0,
  }))
  const total = sized.reduce((sum, { bytes }) => sum + bytes, 0)
  if (total <= LIMIT.worktreeBytes) return
  const files = sized
    .toSorted((left, right) => right.bytes - left.bytes)
    .slice(0, MOST_NAMED)
    .map(({ path, bytes }) => `${path} (${Math.ceil(bytes / MEBIBYTE)} MiB)`)
  throw new Failure("WORKTREE_TOO_LARGE", {
    run,
    path: top,
    what: "The new and changed files",
    files: files.join(", "),
  })
}

const MOST_NAMED = 5
const MEBIBYTE = 1_048_576
