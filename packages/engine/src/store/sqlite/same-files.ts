/**
 * The files we write must be the files at their paths. A database that was deleted, replaced or moved while it was open can
 * still be written and flushed without any error, and everything in it is gone with this process; the same holds for its
 * log. So whoever is about to say that something is safe looks first.
 *
 * Two looks at paths cost an admission a seventh. A folder is told of everything that comes, goes or moves in it, so while
 * it has not changed one look at its open descriptor is enough.
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
  /** Throws when one of them is not the one that was opened. */
  readonly check: () => void
  readonly close: () => void
}

export const rememberFiles = (
  raw: DatabaseSync,
  options: {
    readonly file: string
    /** Of the log, where there is one. */
    readonly descriptor: number | undefined
  },
): SameFiles => {
  const { file, descriptor } = options
  const database = statSync(file)
  const log = descriptor === undefined ? undefined : fstatSync(descriptor)
  const logFile = `${file}-wal`
  // What a link points at lies in another folder.
  const folder = lstatSync(file).isSymbolicLink() ? undefined : openSync(dirname(file), "r")
  /** When the folder had changed last, as of a look at which all was well. */
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
      // A folder's time is as coarse as the system's tick: one that changed just now may change again under the same time.
      if (changed !== undefined && machineNow() - changed > TICK_MS) wellSince = changed
    },
  }
}

const TICK_MS = 100

const look = (file: string): Identity | undefined => statSync(file, { throwIfNoEntry: false })

const isSame = (one: Identity, other: Identity): boolean => one.ino === other.ino && one.dev === other.dev

/** What is in a log without a path is lost with this process, unless the database takes it now. */
const saveLog = (raw: DatabaseSync): void => {
  try {
    raw.exec("pragma wal_checkpoint(truncate)")
  } catch {
    // The caller is about to say that the log is gone.
  }
}
