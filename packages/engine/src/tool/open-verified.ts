/**
 * Opens a canonical path so that a link swapped in after the check leads nowhere. The last part may not be a link
 * (O_NOFOLLOW), opening never blocks on a FIFO (O_NONBLOCK), and the opened file must still have the requested path. Writes
 * go through an opened directory, addressed as `/proc/self/fd/N/name`, so that exchanging the directory for a link later
 * has no effect. Without /proc (macOS), device and inode are compared instead.
 */
import { constants, existsSync, fstatSync, readlinkSync, type BigIntStats } from "node:fs"
import { mkdir, open, realpath, stat, type FileHandle } from "node:fs/promises"
import { basename, dirname, join } from "node:path"

import { systemCode } from "@meridian/protocol"

import { ToolError } from "../port/tool.ts"
import { fileError } from "./describe-error.ts"
import { TOOL_LIMITS } from "./limits.ts"
import type { ResolvedPath } from "./resolve-path.ts"

export interface OpenedFile extends AsyncDisposable {
  readonly handle: FileHandle
  readonly stats: BigIntStats
}

/** A path that nobody named: an ignore file, or a file that a search found. */
export const bare = (absolute: string): ResolvedPath => ({
  absolute,
  named: absolute,
  resource: absolute,
  fromHere: absolute,
  external: false,
})

/** Opens for reading. Returns only regular files and directories; the caller distinguishes them by `stats`. */
export const openVerified = async (path: ResolvedPath): Promise<OpenedFile> => {
  for (let attempt = 1; ; attempt++) {
    const opened = await openOnce(path, constants.O_RDONLY)
    if (opened !== undefined) return opened
    // A file that is being replaced by a rename looks like a swap. A second look distinguishes them.
    if (attempt >= TOOL_LIMITS.openAttempts) throw movedAway(path)
  }
}

export interface AnchoredDirectory extends AsyncDisposable {
  /** The path of a child that stays in this directory, even if the directory is renamed. */
  readonly child: (name: string) => string
}

/** Opens the directory that contains a file. Creates missing parents on request. */
export const openParent = async (
  path: ResolvedPath,
  options: { readonly create: boolean },
): Promise<AnchoredDirectory & { readonly name: string }> => {
  const missing: string[] = []
  for (let at = dirname(path.absolute); ; at = dirname(at)) {
    const directory = await openDirectory({ ...path, absolute: at }, { orMissing: options.create })
    if (directory !== undefined) {
      const parent = await descend(directory, missing, path)
      return { ...parent, name: basename(path.absolute) }
    }
    missing.unshift(basename(at))
  }
}

const openDirectory = async (
  path: ResolvedPath,
  options: { readonly orMissing: boolean },
): Promise<AnchoredDirectory | undefined> => {
  try {
    const opened = await openOnce(path, constants.O_RDONLY | constants.O_DIRECTORY)
    if (opened === undefined) throw movedAway(path)
    return anchor(opened.handle, path.absolute)
  } catch (error) {
    if (options.orMissing && systemCode(error instanceof ToolError ? error.cause : error) === "ENOENT")
      return undefined
    throw fileError(error, path.named)
  }
}

const descend = async (
  start: AnchoredDirectory,
  names: readonly string[],
  path: ResolvedPath,
): Promise<AnchoredDirectory> => {
  let directory = start
  for (const name of names) {
    const child = directory.child(name)
    try {
      await mkdir(child).catch((error: unknown) => {
        if (systemCode(error) !== "EEXIST") throw error
      })
      const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
      const next = anchor(await open(child, flags), child)
      await directory[Symbol.asyncDispose]()
      directory = next
    } catch (error) {
      await directory[Symbol.asyncDispose]()
      throw fileError(error, path.named)
    }
  }
  return directory
}

const anchor = (handle: FileHandle, absolute: string): AnchoredDirectory => {
  const link = `/proc/self/fd/${handle.fd}`
  const base = linkTarget(link) === undefined ? absolute : link
  return { child: (name) => join(base, name), [Symbol.asyncDispose]: () => handle.close() }
}

const openOnce = async (path: ResolvedPath, flags: number): Promise<OpenedFile | undefined> => {
  if (isLiveDatabase(path.absolute))
    throw new ToolError(
      "failed",
      `${JSON.stringify(path.named)} belongs to a SQLite database in use. Look into it with a command such as sqlite3.`,
    )
  const handle = await open(path.absolute, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      throw fileError(error, path.named)
    },
  )
  try {
    // On an open descriptor this is answered from memory. Going through the thread pool would cost ten times as much.
    const stats = fstatSync(handle.fd, { bigint: true })
    const same = await isStill(handle, path.absolute)
    if (!stats.isFile() && !stats.isDirectory())
      throw new ToolError(
        "failed",
        `${JSON.stringify(path.named)} is not a regular file: devices, pipes and sockets are refused.`,
      )
    if (same) return { handle, stats, [Symbol.asyncDispose]: () => handle.close() }
  } catch (error) {
    await handle.close()
    throw fileError(error, path.named)
  }
  await handle.close()
  return undefined
}

/**
 * A SQLite database in use has a `-shm` file. It may be the engine's own, and closing a file drops all POSIX locks that this
 * process has on it. Another process would then take the database for closed and delete its log, with what is in it.
 */
const isLiveDatabase = (absolute: string): boolean =>
  existsSync(`${absolute.replace(/-(?:wal|shm)$/, "")}-shm`)

const isStill = async (handle: FileHandle, absolute: string): Promise<boolean> => {
  const target = linkTarget(`/proc/self/fd/${handle.fd}`)
  if (target !== undefined) return target === absolute
  const [opened, now, real] = await Promise.all([
    handle.stat({ bigint: true }),
    stat(absolute, { bigint: true }),
    realpath(absolute),
  ])
  return real === absolute && opened.ino === now.ino && opened.dev === now.dev
}

const linkTarget = (link: string): string | undefined => {
  try {
    return readlinkSync(link)
  } catch {
    return undefined
  }
}

const movedAway = (path: ResolvedPath): ToolError =>
  new ToolError(
    "failed",
    `${JSON.stringify(path.named)} was moved or replaced by a link while it was opened. Look at it again before you go on.`,
  )
