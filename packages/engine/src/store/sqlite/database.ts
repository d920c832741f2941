/**
 * The SQLite file: opened with care, and never touched when it is not ours.
 *
 * A commit is in the write-ahead log at once and survives the death of the process. A flush of that log makes it and every
 * earlier commit survive a power cut. `append.ts` decides which caller must wait for a flush.
 */
import { randomUUID } from "node:crypto"
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"

import { Failure, systemCode } from "@meridian/protocol"
import { Effect } from "effect"

import { machineMs } from "../../port/machine-time.ts"
import { openFlusher, type Flusher, type FlushFile } from "./flusher.ts"
import { keepLog, mendLog, moveLogByItself } from "./mend-log.ts"
import { nameSessions } from "./name-sessions.ts"
import { rememberFiles, type SameFiles } from "./same-files.ts"
import { MIGRATIONS, TITLES_SINCE } from "./schema.ts"

export interface Database {
  readonly file: string
  /** The same for every path that leads to this file. */
  readonly identity: string
  readonly raw: DatabaseSync
  /** All or nothing, under the write lock from the first statement. Not reentrant. */
  readonly transact: <A>(body: () => A) => A
  /** Runs synchronous code that queries the database. An SQLite error becomes a coded failure; a bug stays a defect. */
  readonly ask: <A>(body: () => A) => Effect.Effect<A, Failure>
  /** The same for an error that was thrown elsewhere. */
  readonly fail: (cause: unknown) => Effect.Effect<never, Failure>
  /**
   * Completes when everything committed so far survives a power cut. `inPlace`: there is no other work to do in that time.
   */
  readonly flush: (inPlace: boolean) => Effect.Effect<void, Failure>
  readonly close: () => void
}

/**
 * Called just before and just after every commit, and before a flush. A test stops the process there, or fills its disk.
 */
export type Tap = (point: "commit" | "committed" | "flush", raw: DatabaseSync) => void

export interface DatabaseOptions {
  readonly file: string
  readonly tap?: Tap
  /** How to flush a file. A simulation supplies its own. */
  readonly flushFile?: FlushFile
  /** Milliseconds that never go back. */
  readonly monotonic?: () => number
}

const BUSY_TIMEOUT_MS = 5_000
const BUSY_POLL_MS = 10
/** Up to this many pages a database is checked completely when it opens; a larger one when it is read. */
const PAGES_CHECKED_AT_OPEN = 1_000

export const openDatabase = ({ file, tap, ...flushing }: DatabaseOptions): Database => {
  const inMemory = file === ":memory:"
  if (!inMemory) inspectFile(file)
  const isInherited = !inMemory && hasContent(`${file}-wal`)
  const raw = guarded(file, () => {
    if (!inMemory) mkdirSync(dirname(file), { recursive: true })
    return new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
  })
  const { flusher, files } = orClose(raw, () =>
    guarded(file, () => {
      patiently(() => prepare(raw, file))
      // A file system without shared memory has no write-ahead log to flush, so every commit waits in place.
      const hasLog = textOf(raw, "pragma journal_mode") === "wal"
      raw.exec(`pragma synchronous=${hasLog || inMemory ? "NORMAL" : "FULL"}`)
      const opened = hasLog
        ? openFlusher(`${file}-wal`, {
            ...flushing,
            isInherited,
            onTorn: () => {
              if (raw.isOpen) keepLog(raw)
            },
            mend: (log) => mendLog(raw, file, log),
            beforeFlush: () => tap?.("flush", raw),
          })
        : undefined
      return {
        flusher: opened,
        files: inMemory ? undefined : rememberFiles(raw, { file, descriptor: opened?.descriptor }),
      }
    }),
  )
  const begin = raw.prepare("begin immediate")
  const commit = raw.prepare("commit")
  const rollback = raw.prepare("rollback")

  const commitNow = (): void => {
    try {
      commit.run()
    } catch (cause) {
      // SQLite flushes too, when it moves the log into the database after a commit.
      if (isDiskTrouble(cause)) flusher?.distrust()
      throw cause
    } finally {
      flusher?.committed()
    }
  }

  const transact = <A>(body: () => A): A => {
    begin.run()
    try {
      const result = body()
      tap?.("commit", raw)
      commitNow()
      tap?.("committed", raw)
      return result
    } catch (cause) {
      // A failed commit (full disk) may already have rolled back.
      if (raw.isOpen && raw.isTransaction) rollback.run()
      throw cause
    }
  }

  const ask: Database["ask"] = (body) =>
    Effect.suspend(() => {
      try {
        if (!raw.isOpen) return Effect.fail(new Failure("ENGINE_CLOSED"))
        return Effect.succeed(body())
      } catch (cause) {
        return failed(file, cause)
      }
    })

  return {
    file,
    identity: inMemory ? randomUUID() : identityOf(file),
    raw,
    transact,
    ask,
    fail: (cause) => failed(file, cause),
    flush: (inPlace) => (files === undefined ? Effect.void : flush({ file, files, flusher, inPlace })),
    close: () => {
      files?.close()
      flusher?.close()
      raw.close()
    },
  }
}

const identityOf = (file: string): string => {
  const { dev, ino } = statSync(file)
  return `${dev}:${ino}`
}

const orClose = <A>(raw: DatabaseSync, body: () => A): A => {
  try {
    return body()
  } catch (cause) {
    raw.close()
    throw cause
  }
}

const flush = (options: {
  readonly file: string
  readonly files: SameFiles
  readonly flusher: Flusher | undefined
  readonly inPlace: boolean
}): Effect.Effect<void, Failure> =>
  Effect.suspend(() => {
    const { file, files, flusher, inPlace } = options
    if (flusher !== undefined && !flusher.isSafe() && !(inPlace && flusher.isQuick()))
      return Effect.callback((resume) => {
        flusher
          .flushBeside()
          .then(files.check)
          .then(
            () => resume(Effect.void),
            (cause: unknown) => resume(failed(file, cause)),
          )
      })
    try {
      if (flusher?.isSafe() === false) flusher.flush()
      files.check()
      return Effect.void
    } catch (cause) {
      return failed(file, cause)
    }
  })

const failed = (file: string, cause: unknown): Effect.Effect<never, Failure> => {
  const failure = translate(file, cause)
  return failure instanceof Failure ? Effect.fail(failure) : Effect.die(failure)
}

/** Like `ask`, for code that is not an Effect: throws the failure. */
export const guarded = <A>(file: string, body: () => A): A => {
  try {
    return body()
  } catch (cause) {
    throw translate(file, cause)
  }
}

const isDiskTrouble = (cause: unknown): boolean =>
  cause instanceof Error && "errcode" in cause && [10, 13].includes(Number(cause.errcode) & 0xff)

const translate = (file: string, cause: unknown): unknown => {
  if (!(cause instanceof Error)) return cause
  const why = cause.message
  if ("errcode" in cause && typeof cause.errcode === "number")
    switch (cause.errcode & 0xff) {
      case 5: // SQLITE_BUSY
      case 6: // SQLITE_LOCKED
        return new Failure("DATABASE_BUSY", { file }, { cause })
      case 11: // SQLITE_CORRUPT
      case 26: // SQLITE_NOTADB
        return new Failure("DATABASE_DAMAGED", { file, why }, { cause })
      case 8: // SQLITE_READONLY
      case 10: // SQLITE_IOERR
      case 13: // SQLITE_FULL
      case 14: // SQLITE_CANTOPEN
        return new Failure("DATABASE_UNWRITABLE", { file, why }, { cause })
      default:
        return cause
    }
  if (/^E[A-Z]+$/.test(systemCode(cause))) return new Failure("DATABASE_UNWRITABLE", { file, why }, { cause })
  return cause
}

/**
 * Reads the header before SQLite does. Opening may create side files or finish a checkpoint, but a newer database, or a
 * file that is not a database, must stay as it is, byte for byte.
 */
const inspectFile = (file: string): void => {
  // A file that seems short may be one whose log another process is just writing. A moment later it is whole.
  for (let look = 1; isShort(file); look += 1) {
    if (look === LOOKS_AT_SHORT_FILE) throw new Failure("DATABASE_DAMAGED", { file, why: "it was cut short" })
    pause()
  }
}

const LOOKS_AT_SHORT_FILE = 10

const pause = (): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_POLL_MS)
}

const isShort = (file: string): boolean => {
  if (!existsSync(file)) return false
  const header = Buffer.alloc(100)
  const { read, size } = guarded(file, () => {
    const descriptor = openSync(file, "r")
    try {
      const stat = fstatSync(descriptor)
      if (!stat.isFile()) throw new Failure("DATABASE_DAMAGED", { file, why: "it is not a regular file" })
      return { read: readSync(descriptor, header, 0, header.length, 0), size: stat.size }
    } finally {
      closeSync(descriptor)
    }
  })
  if (read === 0) return false
  if (read < header.length || header.toString("latin1", 0, 16) !== "SQLite format 3\0")
    throw new Failure("DATABASE_DAMAGED", { file, why: "it is not a SQLite database" })
  refuseNewer(file, header.readUInt32BE(60))
  const stored = header.readUInt16BE(16)
  const pageSize = stored === 1 ? 65_536 : stored
  const pages = header.readUInt32BE(28)
  const countIsCurrent = header.readUInt32BE(24) === header.readUInt32BE(92)
  // With a log beside it, the file may lag behind its header. The missing pages are in the log, and SQLite finds them.
  return countIsCurrent && pages * pageSize > size && !hasContent(`${file}-wal`)
}

const hasContent = (file: string): boolean => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0

const refuseNewer = (file: string, found: number): void => {
  const known = MIGRATIONS.length
  if (found > known) throw new Failure("DATABASE_NEWER", { file, found, known })
}

const textOf = (raw: DatabaseSync, sql: string): string =>
  String(Object.values(raw.prepare(sql).get() ?? {})[0])

const numberOf = (raw: DatabaseSync, sql: string): number => Number(textOf(raw, sql))

/** SQLite's own busy timeout does not cover the moment when another process switches a new file to a log. */
const patiently = (body: () => void): void => {
  // Machine time instead of a Clock: opening is one synchronous step, in which no test could move a clock.
  const deadline = machineMs() + BUSY_TIMEOUT_MS
  for (;;)
    try {
      return body()
    } catch (cause) {
      if (!isBusy(cause) || machineMs() > deadline) throw cause
      pause()
    }
}

const isBusy = (cause: unknown): boolean =>
  cause instanceof Error && "errcode" in cause && (Number(cause.errcode) & 0xff) === 5

const prepare = (raw: DatabaseSync, file: string): void => {
  const found = identify(raw, file)
  if (numberOf(raw, "pragma page_count") <= PAGES_CHECKED_AT_OPEN) {
    const verdict = textOf(raw, "pragma quick_check(1)")
    if (verdict !== "ok") throw new Failure("DATABASE_DAMAGED", { file, why: verdict })
  }
  raw.exec(
    "pragma journal_mode=wal; pragma temp_store=memory; pragma cache_size=-16000; pragma foreign_keys=off",
  )
  moveLogByItself(raw)
  if (found < MIGRATIONS.length) migrate(raw, file)
}

/** The schema version. Read in one transaction, because another process may be creating the database right now. */
const identify = (raw: DatabaseSync, file: string): number => {
  raw.exec("begin")
  try {
    const found = numberOf(raw, "pragma user_version")
    refuseNewer(file, found)
    if (found > 0) checkTables(raw, file)
    else if (numberOf(raw, "select count(*) from sqlite_schema") > 0)
      throw new Failure("DATABASE_DAMAGED", { file, why: "it belongs to another program" })
    return found
  } finally {
    raw.exec("rollback")
  }
}

/** A file of ours with a missing table is damaged, whatever its version says. */
const checkTables = (raw: DatabaseSync, file: string): void => {
  const present = new Set(
    raw
      .prepare("select name from sqlite_schema")
      .all()
      .map((row) => String(row["name"])),
  )
  const missing = [...MIGRATIONS.join("\n").matchAll(/create table (\w+)/g)].find(
    ([, name]) => !present.has(name ?? ""),
  )
  if (missing !== undefined)
    throw new Failure("DATABASE_DAMAGED", { file, why: `its table ${missing[1]} is missing` })
}

/** Two processes may open a new file at once, so each checks the version again under the write lock. */
const migrate = (raw: DatabaseSync, file: string): void => {
  raw.exec("begin immediate")
  try {
    const from = numberOf(raw, "pragma user_version")
    refuseNewer(file, from)
    for (const migration of MIGRATIONS.slice(from)) raw.exec(migration)
    if (from > 0 && from < TITLES_SINCE) nameSessions(raw)
    raw.exec(`pragma user_version=${MIGRATIONS.length}`)
    raw.exec("commit")
  } catch (cause) {
    if (raw.isTransaction) raw.exec("rollback")
    throw cause
  }
}
