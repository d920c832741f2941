/**
 * Opens files of a folder that we did not write: only regular files, and only when their real path is inside a root.
 * Opening never blocks on a pipe and never touches a device; nothing here throws.
 *
 * `@meridian/continuity/files` exports this, so that profiles, configuration and logs follow the same rules as briefs and
 * rules.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
} from "node:fs"
import { isAbsolute, join, relative, resolve, sep } from "node:path"

import { systemCode } from "@meridian/protocol"

export type Refusal =
  | { readonly kind: "absent"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string }

export type Found = { readonly kind: "found"; readonly real: string; readonly stats: Stats }

export type Opened = { readonly kind: "open"; readonly descriptor: number; readonly stats: Stats }

/** The folder's real path; undefined when it is not a folder. */
export const resolveRoot = (root: string): string | undefined => {
  try {
    const real = realpathSync.native(resolve(root))
    return lstatSync(real).isDirectory() ? real : undefined
  } catch {
    return undefined
  }
}

/** `inside`: a link is followed when its target is inside the root. `anywhere`: for the user's own folders. */
export type Links = "inside" | "anywhere"

/** `path` is relative to `base` (a real path) or absolute. */
export const findInside = (base: string, path: string, links: Links = "inside"): Found | Refusal => {
  if (path.includes("\0")) return { kind: "refused", reason: "a name with a zero byte" }
  try {
    const wanted = isAbsolute(path) ? path : join(base, path)
    // Most requested names do not exist, and an answer costs far less than an exception.
    if (lstatSync(wanted, { throwIfNoEntry: false }) === undefined) return ABSENT
    const real = realpathSync.native(wanted)
    if (links === "inside" && !isInside(base, real)) return { kind: "refused", reason: "outside of the root" }
    return { kind: "found", real, stats: lstatSync(real) }
  } catch (error) {
    return refusalOf(error)
  }
}

/** Opens a real path for reading. The caller closes the descriptor. */
export const openRegular = (real: string): Opened | Refusal => {
  let descriptor: number
  try {
    // Non-blocking and without following links: a file may have become a pipe or a link since the check.
    descriptor = openSync(
      real,
      constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0),
    )
  } catch (error) {
    return refusalOf(error)
  }
  const stats = fstatSync(descriptor)
  if (stats.isFile()) return { kind: "open", descriptor, stats }
  closeSync(descriptor)
  return { kind: "refused", reason: NOT_REGULAR }
}

export type WholeFile = { readonly kind: "text"; readonly text: string } | Refusal

/** The whole text of a file inside `root`, unchanged. A file larger than `maxBytes` is refused, not cut. */
export const readWhole = (root: string, path: string, maxBytes: number): WholeFile => {
  const base = resolveRoot(root)
  if (base === undefined) return ABSENT
  const found = findInside(base, path)
  if (found.kind !== "found") return found
  if (!found.stats.isFile()) return { kind: "refused", reason: NOT_REGULAR }
  const opened = openRegular(found.real)
  if (opened.kind !== "open") return opened
  try {
    // One byte more than allowed, so that a file that grows, or reports size zero (/proc), is still bounded.
    const bytes = readPiece(opened.descriptor, 0, Math.min(Math.max(opened.stats.size, 1), maxBytes) + 1)
    if (bytes.length > maxBytes) return { kind: "refused", reason: `larger than ${sizeText(maxBytes)}` }
    return { kind: "text", text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) }
  } catch (error) {
    return refusalOf(error)
  } finally {
    closeSync(opened.descriptor)
  }
}

const MIB = 1_048_576

const sizeText = (bytes: number): string => (bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes`)

/** Returns fewer bytes when the file ends earlier. */
export const readPiece = (descriptor: number, from: number, length: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  let filled = 0
  while (filled < length) {
    const count = readSync(descriptor, bytes, filled, length - filled, from + filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

export const isInside = (base: string, real: string): boolean => {
  const path = relative(base, real)
  return path === "" || (path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path))
}

export const NOT_REGULAR = "not a regular file"

const ABSENT = { kind: "absent", reason: "there is no such file" } as const

/** The system's error as a reason for readers. */
export const refusalOf = (error: unknown): Refusal => {
  const code = systemCode(error) || "UNKNOWN"
  return code === "ENOENT" || code === "ENOTDIR"
    ? ABSENT
    : { kind: "refused", reason: REASONS[code] ?? `the system said ${code}` }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "not readable for this user",
  EPERM: "not readable for this user",
  ELOOP: "a link that leads to itself",
  EMFILE: "no file handle is free",
  ENFILE: "no file handle is free",
  ENAMETOOLONG: "a name that is too long",
  // A socket cannot be opened at all.
  ENXIO: NOT_REGULAR,
}
