/**
 * The only way this library reads a disk. Only regular files and real folders inside one root; bounded in bytes, lines,
 * entries, operations and time. It never throws and never blocks on a pipe or a device.
 *
 * The calls are synchronous on purpose: each is one short system call with a capped size, the budget is checked between
 * them, and no other work of the host can push them past a hook's deadline.
 */
import { closeSync, type Dirent, opendirSync, type Stats } from "node:fs"

import { decodeText, type FilePart } from "./decode-text.ts"
import {
  findInside,
  type Links,
  NOT_REGULAR,
  openRegular,
  readPiece,
  type Refusal,
  refusalOf,
  resolveRoot,
} from "./open-inside.ts"
import { openReadBudget, type ReadBudget } from "./read-budget.ts"

export type ReadOutcome =
  | {
      readonly kind: "text"
      readonly text: string
      /** Something was left out: the middle or the end of the file, or the end of a line. */
      readonly truncated: boolean
      readonly modifiedMs: number
    }
  | Refusal

export type ListOutcome =
  | { readonly kind: "entries"; readonly entries: readonly Entry[]; readonly truncated: boolean }
  | Refusal

export interface Entry {
  readonly name: string
  /** A link is reported as such and not followed. "other" is a pipe, a socket or a device. */
  readonly type: "file" | "folder" | "link" | "other"
}

export type LookOutcome =
  | { readonly kind: "file" | "folder"; readonly modifiedMs: number; readonly bytes: number }
  | Refusal

export interface ReadOptions {
  /** Which part to read of a file larger than the cap: head, tail, or half of each (for a log of unknown order). */
  readonly part?: FilePart
  readonly maxBytes?: number
}

export interface GuardedReader {
  /** The root after resolving links; undefined when it is not a folder, and then everything is absent. */
  readonly root: string | undefined
  readonly read: (path: string, options?: ReadOptions) => ReadOutcome
  readonly list: (path: string) => ListOutcome
  readonly look: (path: string) => LookOutcome
  /** See `ReadBudget`. */
  readonly isHurried: () => boolean
}

/** Paths are relative to the root, or absolute inside it. */
export const openGuardedReader = (
  root: string,
  budget: ReadBudget = openReadBudget(),
  links: Links = "inside",
): GuardedReader => {
  const base = resolveRoot(root)

  const guarded = <Outcome>(
    path: string,
    act: (real: string, stats: Stats) => Outcome,
  ): Outcome | Refusal => {
    if (base === undefined) return { kind: "absent", reason: "the root is not a folder" }
    const spent = budget.spendOperation()
    if (spent !== undefined) return { kind: "refused", reason: spent }
    const found = findInside(base, path, links)
    if (found.kind !== "found") return found
    try {
      return act(found.real, found.stats)
    } catch (error) {
      return refusalOf(error)
    }
  }

  return {
    root: base,
    isHurried: budget.isHurried,
    look: (path) => guarded<LookOutcome>(path, (_, stats) => describe(stats)),
    read: (path, options = {}) =>
      guarded<ReadOutcome>(path, (real, stats) =>
        stats.isFile() ? readRegular(real, options, budget) : { kind: "refused", reason: NOT_REGULAR },
      ),
    list: (path) =>
      guarded<ListOutcome>(path, (real, stats) =>
        stats.isDirectory()
          ? listFolder(real, budget.limits.folderEntries)
          : { kind: "refused", reason: "not a folder" },
      ),
  }
}

const describe = (stats: Stats): LookOutcome => {
  if (stats.isFile()) return { kind: "file", modifiedMs: stats.mtimeMs, bytes: stats.size }
  if (stats.isDirectory()) return { kind: "folder", modifiedMs: stats.mtimeMs, bytes: 0 }
  return { kind: "refused", reason: "neither a file nor a folder" }
}

const readRegular = (real: string, options: ReadOptions, budget: ReadBudget): ReadOutcome => {
  const opened = openRegular(real)
  if (opened.kind !== "open") return opened
  const { descriptor, stats } = opened
  try {
    const cap = Math.min(options.maxBytes ?? budget.limits.fileBytes, budget.limits.fileBytes)
    // A file of /proc reports size zero. Reading one extra byte shows whether there is more.
    const size = Math.max(stats.size, 1)
    const granted = budget.spendBytes(Math.min(size, cap))
    if (granted === 0)
      return { kind: "refused", reason: `more than ${budget.limits.totalBytes} bytes in all` }
    const texts: string[] = []
    let cut = stats.size > granted
    const pieces = choosePieces(options.part ?? "head", stats.size, granted)
    for (const { from, length, keep } of pieces) {
      const decoded = decodeText(readPiece(descriptor, from, length), {
        lineLength: budget.limits.lineLength,
        fileLines: Math.ceil(budget.limits.fileLines / pieces.length),
        keep,
      })
      if (decoded.kind === "binary") return { kind: "refused", reason: "not text" }
      texts.push(
        from === 0
          ? decoded.text
          : pieces.length > 1
            ? fromHeading(afterBreak(decoded.text))
            : afterBreak(decoded.text),
      )
      cut ||= decoded.cut
    }
    return { kind: "text", text: texts.join("\n"), truncated: cut, modifiedMs: stats.mtimeMs }
  } finally {
    closeSync(descriptor)
  }
}

interface Piece {
  readonly from: number
  readonly length: number
  readonly keep: FilePart
}

const choosePieces = (part: FilePart, size: number, granted: number): readonly Piece[] => {
  if (size <= granted || part === "head") return [{ from: 0, length: granted, keep: part }]
  if (part === "tail") return [{ from: size - granted, length: granted, keep: part }]
  const half = Math.floor(granted / 2)
  return [
    { from: 0, length: half, keep: "head" },
    { from: size - half, length: half, keep: "tail" },
  ]
}

/** A part from the middle of a file begins with half a line. */
const afterBreak = (text: string): string => {
  const at = text.indexOf("\n")
  return at === -1 ? "" : text.slice(at + 1)
}

/** After a gap in the file it is unknown where these lines belong, until the next heading or entry. */
const fromHeading = (text: string): string => {
  const at = text.search(/^(?:#{1,6} |[^\n]{0,60}\[focus:)/im)
  return at === -1 ? text : text.slice(at)
}

const listFolder = (real: string, maxEntries: number): ListOutcome => {
  const folder = opendirSync(real, { bufferSize: 256 })
  const entries: Entry[] = []
  let truncated = false
  try {
    for (let entry = folder.readSync(); entry !== null && !truncated; entry = folder.readSync()) {
      truncated = entries.length === maxEntries
      if (!truncated) entries.push({ name: entry.name, type: typeOf(entry) })
    }
  } finally {
    folder.closeSync()
  }
  return { kind: "entries", entries: inOrder(entries), truncated }
}

/** By code unit, so that the same tree gives the same text on every file system. */
const inOrder = (entries: readonly Entry[]): readonly Entry[] =>
  entries.toSorted((left, right) => (left.name < right.name ? -1 : 1))

const typeOf = (entry: Dirent): Entry["type"] => {
  if (entry.isFile()) return "file"
  if (entry.isDirectory()) return "folder"
  return entry.isSymbolicLink() ? "link" : "other"
}
