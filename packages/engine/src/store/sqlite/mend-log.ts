/**
 * Repairs a write-ahead log some of whose bytes may never have reached the disk.
 *
 * First its bytes are written again in place. The system still shows them and believes it has written them; now it really
 * has to. Without this, a power cut during the checkpoint below could leave new pages in the database but only the
 * beginning of the log, and recovery would overwrite new pages with old ones.
 *
 * A log whose flush failed is then emptied into the database by a checkpoint, which proves that this disk accepts writes
 * again. A log that already existed when we opened it is only rewritten: it may have many readers, and a checkpoint that
 * empties it would have to wait for all of them.
 */
import { fstatSync, readSync, writeSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"

import { Failure } from "@meridian/protocol"

import type { UnsoundLog } from "./flusher.ts"

/** SQLite moves the log into the database and restarts it when it has grown to this size. */
const LOG_PAGES = 500
const PIECE_BYTES = 1 << 20
/** The whole process waits during this time. */
const PATIENCE_MS = 250

export const moveLogByItself = (raw: DatabaseSync): void => raw.exec(`pragma wal_autocheckpoint=${LOG_PAGES}`)

/** SQLite must not checkpoint a torn log on its own, for the reason given above. */
export const keepLog = (raw: DatabaseSync): void => raw.exec("pragma wal_autocheckpoint=0")

export const mendLog = (raw: DatabaseSync, file: string, log: UnsoundLog): void => {
  const { timeout } = raw.prepare("pragma busy_timeout").get() ?? {}
  raw.exec(`pragma busy_timeout=${PATIENCE_MS}`)
  try {
    writeAgain(raw, log)
    if (log.state === "torn") emptyIntoDatabase(raw, file)
    moveLogByItself(raw)
  } finally {
    raw.exec(`pragma busy_timeout=${Number(timeout)}`)
  }
}

/** Holds the write lock, so that no process restarts the log between our reading and our writing. */
const writeAgain = (raw: DatabaseSync, { descriptor, flush }: UnsoundLog): void => {
  raw.exec("begin immediate")
  try {
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    const { size } = fstatSync(descriptor)
    for (let place = 0; place < size;) {
      const length = readSync(descriptor, piece, 0, Math.min(piece.length, size - place), place)
      if (length === 0) break
      for (let written = 0; written < length;)
        written += writeSync(descriptor, piece, written, length - written, place + written)
      place += length
    }
    flush()
  } finally {
    raw.exec("rollback")
  }
}

const emptyIntoDatabase = (raw: DatabaseSync, file: string): void => {
  const row = raw.prepare("pragma wal_checkpoint(truncate)").get()
  if (Number(row?.["busy"]) !== 0)
    throw new Failure("DATABASE_UNWRITABLE", {
      file,
      why: "a flush failed, and its log cannot be emptied while another process reads it",
    })
}
