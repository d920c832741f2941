/**
 * The rows of the sessions that this node uses, in an in-memory SQLite, filled by the same projector as a single-machine
 * database. They are derived: they may be dropped at any time, and are read again from the log on the server.
 *
 * New events are projected only when the session is read. Drains work on the folded session, so often nothing reads it.
 */
import { decodeEvent, type EventRow } from "@meridian/protocol"

import { openDatabase } from "../sqlite/database.ts"
import { createEventReader, type EventReader } from "../sqlite/events.ts"
import { createLists, type Lists } from "../sqlite/lists.ts"
import { createMessageReader, type MessageReader } from "../sqlite/messages.ts"
import { createProjector } from "../sqlite/projector.ts"
import { createRowRemoval } from "../sqlite/removal.ts"
import { positionOf } from "../sqlite/schema.ts"
import { createSearch } from "../sqlite/search.ts"
import { NO_SUMMARY, type LogSummary } from "./summary.ts"

export interface Mirror
  extends EventReader, MessageReader, Pick<Lists, "inputs" | "input" | "requests" | "questions"> {
  readonly search: ReturnType<typeof createSearch>
  /** What this node knows of a session; undefined: nothing. */
  readonly known: (session: string) => Known | undefined
  /**
   * Adds rows that directly follow the known ones, and the summary after them. Others are ignored; the reader reads on
   * instead.
   */
  readonly add: (session: string, key: number, rows: readonly EventRow[], summary: LogSummary) => void
  /** Projects what is known of a session, so that it can be read. */
  readonly project: (session: string) => void
  readonly drop: (session: string) => void
  readonly close: () => void
}

export interface Known {
  /** The session's key on the server. */
  readonly key: number
  readonly seq: number
  readonly summary: LogSummary
}

interface Entry extends Known {
  readonly bytes: number
  /** The newest rows, not projected yet. */
  readonly unread: EventRow[]
}

export const openMirror = (mostBytes = MOST_BYTES): Mirror => {
  const database = openDatabase({ file: ":memory:" })
  const { raw } = database
  const projector = createProjector(raw)
  const log = createEventReader(database)
  const lists = createLists({ database, log, isHeldElsewhere: () => false })
  const removeRows = createRowRemoval(raw)
  const insertEvent = raw.prepare("insert into event (id, type, time, data) values (?, ?, ?, ?)")
  const moveSession = raw.prepare("update session set seq = ?, updated = ? where key = ?")
  /** The first entry was used longest ago. */
  const entries = new Map<string, Entry>()
  let bytes = 0

  const keep = (session: string, entry: Entry): void => {
    bytes += entry.bytes - (entries.get(session)?.bytes ?? 0)
    entries.delete(session)
    entries.set(session, entry)
    for (const oldest of entries.keys()) {
      if (bytes <= mostBytes || oldest === session) return
      drop(oldest)
    }
  }

  const drop: Mirror["drop"] = (session) => {
    const entry = entries.get(session)
    if (entry === undefined) return
    database.transact(() => removeRows(entry.key))
    log.forget(session)
    entries.delete(session)
    bytes -= entry.bytes
  }

  return {
    ...log,
    ...createMessageReader(database, log),
    inputs: lists.inputs,
    input: lists.input,
    requests: lists.requests,
    questions: lists.questions,
    search: createSearch(database, log),
    known: (session) => entries.get(session),
    add: (session, key, rows, summary) => {
      const entry = entries.get(session) ?? { key, seq: 0, summary: NO_SUMMARY, bytes: 0, unread: [] }
      if (rows.length === 0 || rows[0]?.seq !== entry.seq + 1 || entry.key !== key) return
      let { bytes: size } = entry
      for (const row of rows) {
        size += row.data.length + ROW_BYTES
        entry.unread.push(row)
      }
      keep(session, { key, seq: entry.seq + rows.length, summary, bytes: size, unread: entry.unread })
    },
    project: (session) => {
      const entry = entries.get(session)
      if (entry === undefined || entry.unread.length === 0) return
      const { key, seq, summary, unread } = entry
      database.transact(() => {
        for (const row of unread) {
          const event = decodeEvent(row)
          insertEvent.run(positionOf(key, row.seq), row.type, row.time, row.data)
          if (event.type !== "unknown") projector.project(key, event)
        }
        moveSession.run(seq, summary.updated, key)
      })
      unread.length = 0
    },
    drop,
    close: database.close,
  }
}

/** The rough overhead of a row beside its data. */
const ROW_BYTES = 200
const MOST_BYTES = 512 * 1024 * 1024
