/**
 * Takes back what a move of a checkout has written. Touches only files that hold exactly what the move would have put
 * there, or the beginning of it. Any other content was not written by the move.
 */
import { closeSync, lstatSync, openSync, readSync, rmdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"

import { changesBetween, type FileChange, type FileEntry } from "./changes.ts"
import { callGit, git, type GitPlace } from "./git.ts"
import type { CheckoutMove } from "./move-journal.ts"
import type { Checkout } from "./snapshot.ts"

export const restoreFiles = async (
  { git: place, top, gitDir }: Checkout,
  { head, commit, token }: Pick<CheckoutMove, "head" | "commit" | "token">,
): Promise<void> => {
  const changes = await changesBetween(place, head, commit)
  const index = join(gitDir, `meridian-${token}.restore`)
  const withIndex: GitPlace = { ...place, env: { ...place.env, GIT_INDEX_FILE: index } }
  try {
    const other = await differing(withIndex, changes)
    const written: FileChange[] = []
    for (const change of changes)
      if (
        change.after === undefined
          ? isAbsent(join(top, change.path))
          : !other.has(change.path) || (await isCutOff(place, { top, change, blob: change.after.blob }))
      )
        written.push(change)
    for (const { path, before } of written) if (before === undefined) removeFile(top, path)
    rmSync(index, { force: true })
    await checkOut(withIndex, written)
  } finally {
    for (const file of [index, `${index}.lock`]) rmSync(file, { force: true })
  }
}

/**
 * The disk was full, or git was killed, while this file was written: it is gone, or has only the beginning of what
 * was meant. It was clean before, so no other work is lost.
 */
const isCutOff = async (
  place: GitPlace,
  { top, change, blob }: { readonly top: string; readonly change: FileChange; readonly blob: string },
): Promise<boolean> => {
  const path = join(top, change.path)
  if (isAbsent(path)) return change.before !== undefined
  const stats = lstatSync(path)
  if (!stats.isFile()) return false
  const { code, stdout } = await callGit(place, ["cat-file", "blob", blob], { maxBytes: MOST_COMPARED })
  if (code !== 0) return false
  const beginning = readBeginning(path, Math.min(stats.size, stdout.length))
  return stats.size <= MOST_COMPARED
    ? stats.size < stdout.length && stdout.subarray(0, stats.size).equals(beginning)
    : stdout.equals(beginning)
}

const MOST_COMPARED = 16_777_216

const readBeginning = (path: string, bytes: number): Buffer => {
  const file = openSync(path, "r")
  try {
    const read = Buffer.alloc(bytes)
    return read.subarray(0, readSync(file, read, 0, bytes, 0))
  } finally {
    closeSync(file)
  }
}

/** Paths whose file differs from what the move puts there. */
const differing = async (place: GitPlace, changes: readonly FileChange[]): Promise<ReadonlySet<string>> => {
  await putEntries(
    place,
    changes.flatMap(({ path, after }) => (after === undefined ? [] : [{ path, entry: after }])),
  )
  const names = await git(place, ["diff-files", "-z", "--name-only"])
  return new Set(names.split("\0"))
}

const checkOut = async (place: GitPlace, written: readonly FileChange[]): Promise<void> => {
  const back = written.flatMap(({ path, before }) => (before === undefined ? [] : [{ path, entry: before }]))
  if (back.length === 0) return
  await putEntries(place, back)
  await git(place, ["checkout-index", "--force", "-z", "--stdin"], {
    input: back.map(({ path }) => `${path}\0`).join(""),
  })
}

const putEntries = async (
  place: GitPlace,
  entries: readonly { readonly path: string; readonly entry: FileEntry }[],
): Promise<void> => {
  await git(place, ["update-index", "-z", "--index-info"], {
    input: entries.map(({ path, entry }) => `${entry.mode} ${entry.blob}\t${path}\0`).join(""),
  })
}

const isAbsent = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return true
  }
}

/** Removes the file and the folders that were made for it. */
const removeFile = (top: string, path: string): void => {
  rmSync(join(top, path), { force: true })
  try {
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) rmdirSync(join(top, folder))
  } catch {
    // The folder holds something else.
  }
}
