/** Text files that are checked every turn and seldom change. A check costs a stat; only a change costs a read. */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, type Stats } from "node:fs"
import { relative } from "node:path"

import { systemCode } from "@meridian/protocol"

import { isSame, type LookUp } from "./look-up.ts"

export type FileText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "absent" }
  /** The file exists but cannot be read now. */
  | { readonly kind: "unavailable" }

export interface FileCache {
  /** With `inside`, a file whose real path is outside that folder counts as absent. */
  readonly read: (path: string, options?: { readonly inside?: string }) => FileText
}

const MOST_BYTES = 256 * 1024

/** One state of one file. While the state lasts, its text and its real path do too. */
interface Known {
  readonly stat: Pick<Stats, "dev" | "ino" | "mtimeMs" | "ctimeMs" | "size">
  readonly text: string
}

export const createFileCache = (
  lookUp: LookUp,
  onRead: (path: string) => void = () => undefined,
): FileCache => {
  const known = new Map<string, Known>()
  return {
    read: (path, { inside } = {}) => {
      try {
        const stat = lookUp(path)
        if (stat === undefined || !stat.isFile()) return { kind: "absent" }
        const place = `${inside ?? ""}\0${path}`
        const cached = known.get(place)
        if (cached !== undefined && cached.stat.size === stat.size && isSame(cached.stat, stat))
          return { kind: "text", text: cached.text }
        if (inside !== undefined && !isInside(realpathSync(inside), realpathSync(path)))
          return { kind: "absent" }
        onRead(path)
        const text = readText(path)
        known.set(place, { stat, text })
        return { kind: "text", text }
      } catch (cause) {
        return isMissing(cause) ? { kind: "absent" } : { kind: "unavailable" }
      }
    },
  }
}

const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way !== "" && !way.startsWith("..") && !way.startsWith("/")
}

const isMissing = (cause: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(systemCode(cause))

/** Reads at most the bound, and never blocks on something that is no longer a regular file when it is opened. */
const readText = (path: string): string => {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const { size } = fstatSync(descriptor)
    const buffer = Buffer.alloc(Math.min(size, MOST_BYTES))
    const read = readSync(descriptor, buffer, 0, buffer.length, 0)
    const text = buffer.toString("utf8", 0, read).replace(/^\uFEFF/, "")
    return size > MOST_BYTES ? `${text}\n[cut: the file is longer than ${MOST_BYTES} bytes]` : text
  } finally {
    closeSync(descriptor)
  }
}
