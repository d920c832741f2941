/** Reading the log of one session: events by range, as values or as frames. */
import { decodeEvent, eventFrame, fitsAsStored, storedFrame, type EventRow } from "@meridian/protocol"

import type { LoggedEvent } from "../../domain/logged-event.ts"
import type { EventFrames, EventRange } from "../../port/store.ts"
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
  readonly frames: (range: EventRange) => EventFrames | undefined
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
  // SQLite writes the frames of a page, as `storedFrame` does: one value for 500 events instead of thousands for the
  // garbage collector to track (bench/server: replay). One `format` takes three quarters of the time of as many `||`.
  const selectFrames = raw.prepare(
    `select count(*) as rows, cast(group_concat(
       format('id: %d\ndata: {"seq":%d,"time":%d,"type":"%s","data":%s}\n\n', seq, seq, time, type, data), '') as blob) as frames
     from (select id % ${STRIDE} as seq, type, time, data from event where id > ? and id < ? order by id limit ?)`,
  )
  const selectBytes = raw.prepare(
    "select count(*) as rows, sum(bytes) as bytes from (select octet_length(data) as bytes from event where id > ? and id < ? order by id limit ?)",
  )
  const selectSizes = raw.prepare(
    "select octet_length(data) as bytes from event where id > ? and id < ? order by id limit ?",
  )
  const selectCompactions = raw.prepare(
    "select id, type, time, data from event where id > ? and id < ? and (type like 'session.next.compaction.%' or type = 'session.next.undo.ended.1') order by id",
  )

  /** A session keeps its key, and a session at work is looked up many times per turn. */
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

  /** Session -> the last event up to which every row is valid as stored. Rows never change, so none is checked twice. */
  const checked = new Map<string, number>()

  const placeOf = ({ session, after, limit, bytes }: EventRange): Page | undefined => {
    const key = keyOf(session)
    if (key === undefined) return undefined
    const [low, high] = [positionOf(key, after), (key + 1) * STRIDE]
    return { session, low, high, limit, bytes: bytes ?? Number.POSITIVE_INFINITY }
  }

  const rowsOf = ({ low, high }: Page, limit: number): readonly EventRow[] =>
    selectPage.all(low, high, limit).map(rowOfCells)

  const frames: EventReader["frames"] = (range) => {
    const page = placeOf(range)
    if (page === undefined) return undefined
    const through = checked.get(range.session) ?? 0
    return through > range.after ? storedFrames(page, through) : checkedFrames(page)
  }

  /** For rows that were checked before. */
  const storedFrames = (page: Page, through: number): EventFrames | undefined => {
    const { low } = page
    const found = selectFrames.get(low, Math.min(page.high, low - seqOf(low) + through + 1), howMany(page))
    const bytes = found?.["frames"]
    if (!(bytes instanceof Uint8Array)) return undefined
    // Checked rows have no gaps.
    const after = seqOf(low)
    return { first: after + 1, last: after + Number(found?.["rows"]), frames: bytes, more: true }
  }

  const checkedFrames = (page: Page): EventFrames | undefined => {
    const { session } = page
    const limit = howMany(page)
    const rows = rowsOf(page, limit)
    const [first] = rows
    const last = rows.at(-1)
    if (first === undefined || last === undefined) return undefined
    let through = checked.get(session) ?? 0
    let text = ""
    for (const row of rows) {
      const fits = fitsAsStored(row)
      if (fits && row.seq === through + 1) through = row.seq
      text += fits ? storedFrame(row) : eventFrame(row)
    }
    if (checked.size >= MOST_KEYS) checked.clear()
    checked.set(session, through)
    return { first: first.seq, last: last.seq, frames: Buffer.from(text), more: rows.length === limit }
  }

  /** Session -> start of a full page -> its number of rows. A second reader of a log does not measure its pages again. */
  const measured = new Map<string, Map<string, number>>()

  const howMany = (page: Page): number => {
    const { session, low, limit, bytes } = page
    if (bytes === Number.POSITIVE_INFINITY) return limit
    const pages = measured.get(session) ?? new Map<string, number>()
    const place = [low, limit, bytes].join()
    const before = pages.get(place)
    if (before !== undefined) return before
    const { rows, isFull } = measure(page)
    if (!isFull) return rows
    if (measured.size >= MOST_MEASURED) measured.clear()
    if (pages.size >= MOST_KEYS) pages.clear()
    measured.set(session, pages.set(place, rows))
    return rows
  }

  /** SQLite knows the size of a value without reading it. Nearly every page fits, and one sum proves it. */
  const measure = ({ low, high, limit, bytes }: Page): Measured => {
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
    events: (range) => {
      const page = placeOf(range)
      return page === undefined ? [] : rowsOf(page, page.limit).map(decodeEvent)
    },
    frames,
    compactions: (session) => {
      const key = keyOf(session)
      if (key === undefined) return []
      return selectCompactions.all(positionOf(key, 0), (key + 1) * STRIDE).map(eventOf)
    },
  }
}

const MOST_KEYS = 10_000

/** Sessions with known pages. Each page of a log is a few bytes here, for 256 KB of the log. */
const MOST_MEASURED = 100

/** Rows after one position and before another, bounded in number and bytes. */
interface Page {
  readonly session: string
  readonly low: number
  readonly high: number
  readonly limit: number
  readonly bytes: number
}

interface Measured {
  readonly rows: number
  /** The page is full, so later appends do not change it. */
  readonly isFull: boolean
}

/** Decodes a row with the columns of an event. */
export const eventOf = (row: Row): LoggedEvent =>
  decodeEvent({
    seq: seqOf(Number(row["id"])),
    type: String(row["type"]),
    time: Number(row["time"]),
    data: String(row["data"]),
  })

/** The same columns by index instead of name. */
const rowOfCells = (cells: Row): EventRow => ({
  seq: seqOf(Number(cells[0])),
  type: String(cells[1]),
  time: Number(cells[2]),
  data: String(cells[3]),
})
