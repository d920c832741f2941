/**
 * Files of the state are opened here and nowhere else: never through a link, never blocking on a pipe, never a
 * device. Other users cannot read what we create. A folder from elsewhere may hold anything under our names.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  statSync,
} from "node:fs"
import { dirname } from "node:path"

import { Failure, systemCode } from "@meridian/protocol"

const SAFELY = constants.O_NOFOLLOW | constants.O_NONBLOCK
const OTHERS = 0o077

/** Undefined if the file does not exist. Throws STATE_NOT_PLAIN. */
export const openForReading = (path: string): number | undefined => {
  try {
    return openPlain(path, constants.O_RDONLY)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** For reading and appending. Creates the file. Throws STATE_NOT_PLAIN. */
export const openForAppending = (path: string): number =>
  openPlain(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT)

/**
 * The same, for a file that only we may lock. Throws STATE_FOREIGN for a file that another user put there: it belongs
 * neither to us nor to the owner of its folder.
 */
export const openForLocking = (path: string): number => {
  const file = openForAppending(path)
  const { uid, mode } = fstatSync(file)
  const user = process.getuid?.()
  if (user !== undefined && uid !== user && uid !== statSync(dirname(path)).uid) {
    closeSync(file)
    throw new Failure("STATE_FOREIGN", { path, owner: uid, user })
  }
  // Earlier versions made it readable for everyone, and whoever can open a file can lock it.
  if ((mode & OTHERS) !== 0) fchmodSync(file, mode & ~OTHERS & 0o777)
  return file
}

/**
 * Closes a folder of ours that others could enter. Refuses one that is a link, because our files would land wherever
 * it leads.
 */
export const keepPrivate = (folder: string): void => {
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  if (stats === undefined) return
  if (!stats.isDirectory()) throw new Failure("STATE_NOT_PLAIN", { path: folder })
  if ((stats.mode & OTHERS) !== 0 && stats.uid === process.getuid?.())
    chmodSync(folder, stats.mode & ~OTHERS & 0o777)
}

export const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(systemCode(error))

const openPlain = (path: string, flags: number): number => {
  let file: number
  try {
    file = openSync(path, flags | SAFELY, 0o600)
  } catch (error) {
    if (isLinkOrPipe(error)) throw new Failure("STATE_NOT_PLAIN", { path }, { cause: error })
    throw error
  }
  if (fstatSync(file).isFile()) return file
  closeSync(file)
  throw new Failure("STATE_NOT_PLAIN", { path })
}

/** A link, a pipe without a reader, a socket, or a folder opened for writing. */
const isLinkOrPipe = (error: unknown): boolean => ["ELOOP", "ENXIO", "EISDIR"].includes(systemCode(error))
