/**
 * How far each session has been sent to each collector, in a small database of the user. A cursor only moves forward,
 * whichever process writes. Losing the file only sends the same spans again.
 */
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"

export interface Cursors {
  readonly of: (session: string) => number
  readonly advance: (session: string, seq: number) => void
  readonly close: () => void
}

export interface CursorKey {
  /** The destination. */
  readonly exporter: string
  /** The database of the sessions. */
  readonly database: string
}

/** If the file cannot be used, memory replaces it; then a restart sends more than necessary. */
export const openCursors = (file: string, { exporter, database }: CursorKey): Cursors => {
  const opened = openStore(file)
  const read = opened.prepare("select seq from cursor where exporter = ? and database = ? and session = ?")
  const write = opened.prepare(
    `insert into cursor (exporter, database, session, seq) values (?, ?, ?, ?)
     on conflict do update set seq = max(seq, excluded.seq)`,
  )
  return {
    of: (session) => Number(read.get(exporter, database, session)?.["seq"] ?? 0),
    advance: (session, seq) => void write.run(exporter, database, session, seq),
    close: () => opened.close(),
  }
}

const openStore = (file: string): DatabaseSync => {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    return prepared(new DatabaseSync(file, { timeout: BUSY_MS }))
  } catch {
    return prepared(new DatabaseSync(":memory:"))
  }
}

const BUSY_MS = 1_000

const prepared = (database: DatabaseSync): DatabaseSync => {
  try {
    database.exec(`pragma journal_mode = wal; pragma synchronous = off;
      create table if not exists cursor (
        exporter text not null, database text not null, session text not null, seq integer not null,
        primary key (exporter, database, session)
      ) strict, without rowid`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
