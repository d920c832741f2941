/**
 * What is left of a log of events, found row by row on the pages of a damaged file. Only the places of rows are kept in
 * memory, so the size of the file does not matter.
 */
import { decodeEvent } from "@meridian/protocol"

import type { LoggedEvent } from "../../../domain/logged-event.ts"
import { keyOf, seqOf } from "../schema.ts"
import type { Pages } from "./pages.ts"
import { rowAt, rowsOn, type Value } from "./rows.ts"

/** A session from its own row, for a session whose first event is gone. */
export interface SessionRow {
  readonly id: string
  readonly directory: string
  readonly created: number
  readonly seq: number
}

export interface DamagedLog {
  /** By key, in order of creation. */
  readonly sessions: readonly { readonly key: number; readonly last: number }[]
  readonly row: (key: number) => SessionRow | undefined
  /** The event as stored, if it is there at all. */
  readonly event: (key: number, seq: number) => LoggedEvent | undefined
}

export const readDamagedLog = (pages: Pages): DamagedLog => {
  /** Position -> page and row on that page. */
  const places = new Map<number, number>()
  const rows = new Map<number, SessionRow>()
  const last = new Map<number, number>()
  for (let number = 1; number <= pages.count; number += 1) {
    if (pages.isFree(number)) continue
    for (let index = 0; index < rowsOn(number, pages); index += 1) {
      const found = rowAt(number, index, pages)
      const values = found?.values()
      if (found === undefined || values === undefined) continue
      if (isEvent(values)) {
        places.set(found.rowid, number * ROWS_OF_PAGE + index)
        const key = keyOf(found.rowid)
        last.set(key, Math.max(last.get(key) ?? 0, seqOf(found.rowid)))
      } else {
        const row = sessionOf(values)
        if (row !== undefined) rows.set(found.rowid, row)
      }
    }
  }
  for (const [key, { seq }] of rows) last.set(key, Math.max(last.get(key) ?? 0, seq))
  return {
    sessions: [...last].map(([key, seq]) => ({ key, last: seq })).toSorted((a, b) => a.key - b.key),
    row: (key) => rows.get(key),
    event: (key, seq) => {
      const position = key * 2 ** 31 + seq
      const place = places.get(position)
      if (place === undefined) return undefined
      const values = rowAt(Math.floor(place / ROWS_OF_PAGE), place % ROWS_OF_PAGE, pages)?.values()
      if (values === undefined) return undefined
      return decodeEvent({ seq, type: String(values[1]), time: Number(values[2]), data: String(values[3]) })
    },
  }
}

const ROWS_OF_PAGE = 65_536

const isEvent = (values: readonly Value[]): boolean =>
  values.length === 4 &&
  values[0] === null &&
  typeof values[1] === "string" &&
  values[1].startsWith("session.next.") &&
  typeof values[2] === "number" &&
  typeof values[3] === "string"

/** `key, id, seq, directory, agent, model, title, created, ...`, as the first version of the table has it. */
const sessionOf = (values: readonly Value[]): SessionRow | undefined => {
  const [key, id, seq, directory] = values
  const created = values[7]
  return values.length > 15 &&
    key === null &&
    typeof id === "string" &&
    id.startsWith("ses_") &&
    typeof seq === "number" &&
    typeof directory === "string" &&
    typeof created === "number"
    ? { id, seq, directory, created }
    : undefined
}
