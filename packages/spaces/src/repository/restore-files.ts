/**
 * Takes back what a move of a checkout has written. Only files that hold exactly what the move would have put there are touched:
 * whatever else they hold was written by somebody else.
 */
import { lstatSync, rmdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"

import { changesBetween, type FileChange, type FileEntry } from "./changes.ts"
import { git, type GitPlace } from "./git.ts"
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
    const written = changes.filter((change) =>
      change.after === undefined ? isAbsent(join(top, change.path)) : !other.has(change.path),
    )
    for (const { path, before } of written) if (before === undefined) removeFile(top, path)
    rmSync(index, { force: true })
    await checkOut(withIndex, written)
  } finally {
    for (const file of [index, `${index}.lock`]) rmSync(file, { force: true })
  }
}

/** Paths whose file is not what the move puts there. */
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

/** And the folders that were made for it. */
const removeFile = (top: string, path: string): void => {
  rmSync(join(top, path), { force: true })
  try {
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) rmdirSync(join(top, folder))
  } catch {
    // Something else is in there.
  }
}
