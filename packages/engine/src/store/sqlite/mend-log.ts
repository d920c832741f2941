/**
 * Making a write-ahead log sound again of which some bytes may never have reached the disk.
 *
 * First its bytes are written once more where they stand. The system still shows them and believes it has written them; now
 * it has to. Without that, a power cut during the checkpoint below could find new pages in the database and only the
 * beginning of the log, and would put old pages over them.
 *
 * A log whose flush failed is then emptied into the database by a checkpoint, which proves that this disk takes writes
 * again. One that was merely there before us is only written once more: its readers may be many, and a checkpoint that
 * empties it would have to wait for all of them.
 */
import { fstatSync, readSync, writeSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"

import { Failure } from "@meridian/protocol"

import type { UnsoundLog } from "./flusher.ts"

/** The log is moved into the database and begun anew whenever it has grown to this. */
const LOG_PAGES = 500
const PIECE_BYTES = 1 << 20
/** Everybody in this process waits meanwhile. */
const PATIENCE_MS = 250

export const moveLogByItself = (raw: DatabaseSync): void => raw.exec(`pragma wal_autocheckpoint=${LOG_PAGES}`)

/** From a torn log nothing may reach the database by itself: the reason is the same as for writing it once more. */
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

/** Under the write lock: nobody may begin the log anew between our reading and our writing. */
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
