/** Reading the log of one session: events by range, as values or as text. */
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
  const selectPage = raw.prepare(
    "select id, type, time, data from event where id > ? and id < ? order by id limit ?",
  )
  // A third cheaper than objects.
  selectPage.setReturnArrays(true)
  const selectBytes = raw.prepare(
    "select count(*) as rows, sum(bytes) as bytes from (select octet_length(data) as bytes from event where id > ? and id < ? order by id limit ?)",
  )
  const selectSizes = raw.prepare(
    "select octet_length(data) as bytes from event where id > ? and id < ? order by id limit ?",
  )
  const selectCompactions = raw.prepare(
    "select id, type, time, data from event where id > ? and id < ? and (type like 'session.next.compaction.%' or type = 'session.next.undo.ended.1') order by id",
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

  const read = ({ session, after, limit, bytes }: EventRange): readonly EventRow[] => {
    const key = keyOf(session)
    if (key === undefined) return []
    const [low, high] = [positionOf(key, after), (key + 1) * STRIDE]
    const most = bytes === undefined ? limit : howMany(session, [low, high, limit, bytes])
    return selectPage.all(low, high, most).map(rowOfCells)
  }

  const texts: EventReader["texts"] = (range) => {
    const { session } = range
    let through = checked.get(session) ?? 0
    const page = read(range).map((row) => {
      const { seq } = row
      if (seq <= through) return { seq, text: storedText(row) }
      if (seq === through + 1 && fitsAsStored(row)) through = seq
      return { seq, text: seq === through ? storedText(row) : eventText(row) }
    })
    if (checked.size >= MOST_KEYS) checked.clear()
    checked.set(session, through)
    return page
  }

  /** Session -> where a full page begins -> how many rows it has. A second reader of a log does not measure its pages again. */
  const measured = new Map<string, Map<string, number>>()

  const howMany = (session: string, page: Page): number => {
    const pages = measured.get(session) ?? new Map<string, number>()
    const before = pages.get(page.join())
    if (before !== undefined) return before
    const { rows, isFull } = measure(page)
    if (!isFull) return rows
    if (measured.size >= MOST_MEASURED) measured.clear()
    if (pages.size >= MOST_KEYS) pages.clear()
    measured.set(session, pages.set(page.join(), rows))
    return rows
  }

  /** SQLite knows the size of a value without reading it. Nearly every page fits, and one sum says so. */
  const measure = ([low, high, limit, bytes]: Page): Measured => {
    const whole = selectBytes.get(low, high, limit)
    if (Number(whole?.["bytes"] ?? 0) < bytes) return { rows: limit, isFull: whole?.["rows"] === limit }
    let rows = 0
    let sum = 0
    for (const row of selectSizes.iterate(low, high, limit)) {
      rows += 1
      sum += Number(row["bytes"])
      if (sum >= bytes) break
    }
    return { rows, isFull: true }
  }

  return {
    keyOf,
    forget: (session) => {
      keys.delete(session)
      checked.delete(session)
      measured.delete(session)
    },
    at: (position) => {
      const row = selectEvent.get(position)
      return row === undefined ? undefined : eventOf(row)
    },
    events: (range) => read(range).map(decodeEvent),
    texts,
    compactions: (session) => {
      const key = keyOf(session)
      if (key === undefined) return []
      return selectCompactions.all(positionOf(key, 0), (key + 1) * STRIDE).map(eventOf)
    },
  }
}

const MOST_KEYS = 10_000

/** Sessions whose pages are known; each page of a log is a few bytes here and 256 KB there. */
const MOST_MEASURED = 100

/** After, before, at most so many rows and so many bytes. */
type Page = readonly [low: number, high: number, limit: number, bytes: number]

interface Measured {
  readonly rows: number
  /** Nothing that is appended later changes it. */
  readonly isFull: boolean
}

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
