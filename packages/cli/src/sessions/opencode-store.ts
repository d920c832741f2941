/**
 * `$XDG_DATA_HOME/opencode/opencode.db`, as OpenCode 1.18 writes it: tables `session`, `message` and `part`, the
 * latter two with JSON content in `data`. Returned as `opencode export` would print it, so that the one reader of
 * OpenCode's sessions reads these too.
 */
import type { DatabaseSync } from "node:sqlite"

import { parseObject, type JsonObject } from "@meridian/protocol"

export interface OpencodeSession {
  readonly id: string
  readonly directory: string
  readonly title: string
  readonly created: number
  readonly updated: number
}

/** Sessions of people. Those that an agent began itself are left out. */
export const opencodeSessions = (database: DatabaseSync): readonly OpencodeSession[] =>
  database
    .prepare(
      "select id, directory, title, time_created, time_updated from session where parent_id is null order by time_updated desc",
    )
    .all()
    .map((row) => ({
      id: String(row["id"]),
      directory: String(row["directory"]),
      title: String(row["title"]),
      created: Number(row["time_created"]),
      updated: Number(row["time_updated"]),
    }))

/** The entries of an export: the session itself, then its messages in order. */
export function* opencodeEntries(database: DatabaseSync, session: string): Generator<JsonObject> {
  const found = database
    .prepare("select id, directory, title, revert, time_created, time_updated from session where id = ?")
    .get(session)
  if (found === undefined) return
  const revert = parseObject(String(found["revert"] ?? ""))
  yield {
    id: session,
    directory: String(found["directory"]),
    title: String(found["title"]),
    time: { created: Number(found["time_created"]), updated: Number(found["time_updated"]) },
    ...(revert === undefined ? {} : { revert }),
  }
  const parts = database.prepare("select id, data from part where message_id = ? order by id")
  const messages = database.prepare(
    "select id, data from message where session_id = ? order by time_created, id",
  )
  for (const message of messages.iterate(session)) {
    const id = String(message["id"])
    const info = parseObject(String(message["data"]))
    if (info === undefined) continue
    yield {
      info: { ...info, id, sessionID: session },
      parts: parts.all(id).flatMap((part): readonly JsonObject[] => {
        const data = parseObject(String(part["data"]))
        return data === undefined
          ? []
          : [{ ...data, id: String(part["id"]), messageID: id, sessionID: session }]
      }),
    }
  }
}
