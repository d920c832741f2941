/** Reading the log of one session: events by range, as values or as text. */
import type { StatementSync } from "node:sqlite"

import { decodeEvent, eventText, fitsAsStored, storedText, type EventRow } from "@meridian/protocol"

import type { LoggedEvent } from "../../domain/logged-event.ts"
import type { EventRange, EventText } from "../../port/store.ts"
import type { Database } from "./database.ts"
import { positionOf, seqOf, STRIDE } from "./schema.ts"

export type Row = Readonly<Record<string, unknown>>

export interface EventReader {
  /** The session was deleted. */
  readonly forget: (session: string) => void
  /** Undefined when there is no such session. */
  readonly keyOf: (session: string) => number | undefined
  readonly at: (position: number) => LoggedEvent | undefined
  readonly events: (range: EventRange) => readonly LoggedEvent[]
  readonly texts: (range: EventRange) => readonly EventText[]
  readonly compactions: (session: string) => readonly LoggedEvent[]
}

export const createEventReader = ({ raw }: Database): EventReader => {
  const selectKey = raw.prepare("select key from session where id = ?")
  const selectEvent = raw.prepare("select id, type, time, data from event where id = ?")
  const selectEvents = raw.prepare(
    "select id, type, time, data from event where id > ? and id < ? order by id limit ?",
  )
  const selectCells = raw.prepare(
    "select id, type, time, data from event where id > ? and id < ? order by id limit ?",
  )
  // A third cheaper than objects, for pages that are only passed on.
  selectCells.setReturnArrays(true)
  const selectBytes = raw.prepare(
    "select sum(bytes) as bytes from (select octet_length(data) as bytes from event where id > ? and id < ? order by id limit ?)",
  )
  const selectSizes = raw.prepare(
    "select octet_length(data) as bytes from event where id > ? and id < ? order by id limit ?",
  )
  const selectCompactions = raw.prepare(
    "select id, type, time, data from event where id > ? and id < ? and type like 'session.next.compaction.%' order by id",
  )

  /** A session keeps its key; those at work are asked for many times a turn. */
  const keys = new Map<string, number>()

  const keyOf: EventReader["keyOf"] = (session) => {
    const known = keys.get(session)
    if (known !== undefined) return known
    const row = selectKey.get(session)
    if (row === undefined) return undefined
    if (keys.size >= MOST_KEYS) keys.clear()
    keys.set(session, Number(row["key"]))
    return Number(row["key"])
  }

  /** Session -> the last event up to which every row fits as stored. Rows never change: nobody looks twice. */
  const checked = new Map<string, number>()

  const read = ({ session, after, limit, bytes }: EventRange, select: StatementSync): readonly Row[] => {
    const key = keyOf(session)
    if (key === undefined) return []
    const [low, high] = [positionOf(key, after), (key + 1) * STRIDE]
    return select.all(low, high, bytes === undefined ? limit : howMany(low, high, limit, bytes))
  }

  const texts: EventReader["texts"] = (range) => {
    const { session } = range
    let through = checked.get(session) ?? 0
    const page = read(range, selectCells).map((cells) => {
      const row = rowOfCells(cells)
      const { seq } = row
      if (seq <= through) return { seq, text: storedText(row) }
      if (seq === through + 1 && fitsAsStored(row)) through = seq
      return { seq, text: seq === through ? storedText(row) : eventText(row) }
    })
    if (checked.size >= MOST_KEYS) checked.clear()
    checked.set(session, through)
    return page
  }

  /** SQLite knows the size of a value without reading it. Nearly every page fits, and one sum says so. */
  const howMany = (low: number, high: number, limit: number, bytes: number): number => {
    if (Number(selectBytes.get(low, high, limit)?.["bytes"] ?? 0) < bytes) return limit
    let count = 0
    let sum = 0
    for (const row of selectSizes.iterate(low, high, limit)) {
      count += 1
      sum += Number(row["bytes"])
      if (sum >= bytes) break
    }
    return count
  }

  return {
    keyOf,
    forget: (session) => {
      keys.delete(session)
      checked.delete(session)
    },
    at: (position) => {
      const row = selectEvent.get(position)
      return row === undefined ? undefined : eventOf(row)
    },
    events: (range) => read(range, selectEvents).map(eventOf),
    texts,
    compactions: (session) => {
      const key = keyOf(session)
      if (key === undefined) return []
      return selectCompactions.all(positionOf(key, 0), (key + 1) * STRIDE).map(eventOf)
    },
  }
}

const MOST_KEYS = 10_000

/** From a row with the columns of an event. */
export const eventOf = (row: Row): LoggedEvent =>
  decodeEvent({
    seq: seqOf(Number(row["id"])),
    type: String(row["type"]),
    time: Number(row["time"]),
    data: String(row["data"]),
  })

/** From the same columns without their names. */
const rowOfCells = (cells: Row): EventRow => ({
  seq: seqOf(Number(cells[0])),
  type: String(cells[1]),
  time: Number(cells[2]),
  data: String(cells[3]),
})
