/**
 * The engine's database for those who only look: opened by the engine itself it would be written to. Tables `session` (one
 * row each, with its key) and `event`, where the events of a session have the ids `key * 2^31 + seq`; the engine keeps
 * that form for what is stored.
 */
import type { DatabaseSync } from "node:sqlite"

import { decodeEvent, type StoredEvent } from "@meridian/protocol"

export interface EngineSession {
  readonly id: string
  readonly key: number
  /** Of the last event. */
  readonly seq: number
  readonly directory: string
  readonly title: string | undefined
  readonly created: number
  readonly updated: number
}

const COLUMNS = "id, key, seq, directory, title, created, updated"

export const engineSessions = (database: DatabaseSync): readonly EngineSession[] =>
  database.prepare(`select ${COLUMNS} from session order by updated desc`).all().map(sessionOf)

export const engineSession = (database: DatabaseSync, id: string): EngineSession | undefined => {
  const row = database.prepare(`select ${COLUMNS} from session where id = ?`).get(id)
  return row === undefined ? undefined : sessionOf(row)
}

const sessionOf = (row: Record<string, unknown>): EngineSession => ({
  id: String(row["id"]),
  key: Number(row["key"]),
  seq: Number(row["seq"]),
  directory: String(row["directory"]),
  title: typeof row["title"] === "string" ? row["title"] : undefined,
  created: Number(row["created"]),
  updated: Number(row["updated"]),
})

const STRIDE = 2_147_483_648

/** Behind `after`, up to `through`. What this version cannot read is passed over. */
export function* engineEvents(
  database: DatabaseSync,
  { key }: Pick<EngineSession, "key">,
  { after, through }: { readonly after: number; readonly through: number },
): Generator<StoredEvent> {
  const rows = database
    .prepare("select id, type, time, data from event where id > ? and id <= ? order by id")
    .iterate(key * STRIDE + after, key * STRIDE + through)
  for (const row of rows) {
    const event = decodeEvent({
      seq: Number(row["id"]) % STRIDE,
      time: Number(row["time"]),
      type: String(row["type"]),
      data: String(row["data"]),
    })
    if (event.type !== "unknown") yield event
  }
}
