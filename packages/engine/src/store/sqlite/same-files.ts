/**
 * The files we write must be the files at their paths. A database that was deleted, replaced or moved while open can still
 * be written and flushed without any error, and is lost when this process ends. The same holds for its log. So this is
 * checked before anything is reported as safe.
 *
 * Checking two paths costs an admission a seventh. A folder's change time covers everything that comes, goes or moves in
 * it, so while the folder is unchanged one look at its open descriptor is enough.
 */
import { closeSync, fstatSync, lstatSync, openSync, statSync } from "node:fs"
import { dirname } from "node:path"
import type { DatabaseSync } from "node:sqlite"

import { Failure } from "@meridian/protocol"

import { machineNow } from "../../port/machine-time.ts"

interface Identity {
  readonly dev: number
  readonly ino: number
}

export interface SameFiles {
  /** Throws when one of them is not the file that was opened. */
  readonly check: () => void
  readonly close: () => void
}

export const rememberFiles = (
  raw: DatabaseSync,
  options: {
    readonly file: string
    /** The descriptor of the log, if there is one. */
    readonly descriptor: number | undefined
  },
): SameFiles => {
  const { file, descriptor } = options
  const database = statSync(file)
  const log = descriptor === undefined ? undefined : fstatSync(descriptor)
  const logFile = `${file}-wal`
  // The target of a link is in another folder.
  const folder = lstatSync(file).isSymbolicLink() ? undefined : openSync(dirname(file), "r")
  /** The folder's last change time at a check that succeeded. */
  let wellSince: number | undefined

  const checkPaths = (): void => {
    const found = look(file)
    if (found === undefined) throw new Failure("DATABASE_MOVED", { file, what: "deleted or moved away" })
    if (!isSame(found, database)) throw new Failure("DATABASE_MOVED", { file, what: "replaced" })
    if (log === undefined) return
    const foundLog = look(logFile)
    if (foundLog !== undefined && isSame(foundLog, log)) return
    saveLog(raw)
    throw new Failure("DATABASE_MOVED", { file: logFile, what: "deleted or replaced" })
  }

  return {
    close: () => {
      if (folder !== undefined) closeSync(folder)
    },
    check: () => {
      const changed = folder === undefined ? undefined : fstatSync(folder).ctimeMs
      if (changed !== undefined && changed === wellSince) return
      wellSince = undefined
      checkPaths()
      // A folder's time is as coarse as the system's tick. A folder that changed just now may change again at the same
      // time.
      if (changed !== undefined && machineNow() - changed > TICK_MS) wellSince = changed
    },
  }
}

const TICK_MS = 100

const look = (file: string): Identity | undefined => statSync(file, { throwIfNoEntry: false })

const isSame = (one: Identity, other: Identity): boolean => one.ino === other.ino && one.dev === other.dev

/** A log without a path is lost with this process, unless its content moves into the database now. */
const saveLog = (raw: DatabaseSync): void => {
  try {
    raw.exec("pragma wal_checkpoint(truncate)")
  } catch {
    // The caller is about to report that the log is gone.
  }
}
