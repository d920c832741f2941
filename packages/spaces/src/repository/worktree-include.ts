/**
 * Files that git ignores but a worktree needs (`.env`): `.worktreeinclude` at the top of the checkout names them as a
 * `.gitignore` would. Only ignored files are copied, so it cannot bring in what git keeps.
 */
import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"

import { readWhole } from "@meridian/continuity/files"
import { Failure } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"
import { callGit, git } from "./git.ts"
import type { Checkout } from "./snapshot.ts"

const FILE = ".worktreeinclude"

/** Returns how many were copied. Throws WORKTREE_INCLUDE_TOO_LARGE before it copies any. */
export const copyIncluded = async (
  from: Checkout,
  to: string,
  scratch: string,
  signal: AbortSignal,
): Promise<number> => {
  const read = readWhole(from.top, join(from.top, FILE), LIMIT.documentBytes)
  if (read.kind !== "text" || read.text.trim() === "") return 0
  const files = await includedFiles(from, read.text, scratch, signal)
  requireRoom(from.top, files)
  let copied = 0
  for (const file of files) {
    signal.throwIfAborted()
    if (copyOne(join(from.top, file), join(to, file))) copied += 1
  }
  return copied
}

const includedFiles = async (
  { git: place }: Checkout,
  patterns: string,
  scratch: string,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  mkdirSync(scratch, { recursive: true, mode: 0o700 })
  const list = join(scratch, "worktreeinclude")
  writeFileSync(list, patterns, { mode: 0o600 })
  try {
    const named = await git(place, ["ls-files", "-z", "--others", "--ignored", `--exclude-from=${list}`], {
      signal,
    })
    if (named === "") return []
    // Exit code 1: none of them is ignored.
    const ignored = await callGit(place, ["check-ignore", "-z", "--stdin"], { input: named, signal })
    return split(ignored.stdout.toString("utf8"))
  } finally {
    rmSync(list, { force: true })
  }
}

const split = (answer: string): readonly string[] => answer.split("\0").filter((path) => path !== "")

const requireRoom = (top: string, files: readonly string[]): void => {
  if (files.length > LIMIT.includedFiles)
    throw new Failure("WORKTREE_INCLUDE_TOO_LARGE", {
      what: `${files.length} files, and at most ${LIMIT.includedFiles} are copied`,
    })
  const bytes = files.reduce(
    (sum, file) => sum + (lstatSync(join(top, file), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
  if (bytes > LIMIT.includedBytes)
    throw new Failure("WORKTREE_INCLUDE_TOO_LARGE", {
      what: `${Math.ceil(bytes / MEBIBYTE)} MiB, and at most ${LIMIT.includedBytes / MEBIBYTE} MiB are copied`,
    })
}

const MEBIBYTE = 1_048_576

/** A link stays a link. Skips what is neither file nor link (a pipe, a socket), or is gone by now. */
const copyOne = (from: string, to: string): boolean => {
  const stats = lstatSync(from, { throwIfNoEntry: false })
  if (stats === undefined || lstatSync(to, { throwIfNoEntry: false }) !== undefined) return false
  if (!stats.isFile() && !stats.isSymbolicLink()) return false
  mkdirSync(dirname(to), { recursive: true })
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from), to)
  else copyFileSync(from, to, constants.COPYFILE_FICLONE)
  return true
}
