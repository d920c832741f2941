/**
 * Sessions of OpenCode in its own database (1.18): `session`, `message` and `part`, each with its JSON in `data`. Opened
 * for reading only; a database of another shape has no sessions to us.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { DatabaseSync } from "node:sqlite"

import { createLosses, openOpencodeReader } from "@meridian/continuity"
import { parseObject, type JsonObject } from "@meridian/protocol"

import { isInside, type Conversation } from "./conversations.ts"
import { entriesOf, type Entry } from "./entry.ts"

type Environment = Readonly<Record<string, string | undefined>>

const LIMITS = { sessions: 200, messages: 20_000 } as const

export const findOpencodeSessions = async (
  env: Environment,
  root: string,
  wanted: ReadonlySet<string>,
): Promise<readonly Conversation[]> => {
  const path = join(env["XDG_DATA_HOME"] || join(env["HOME"] ?? "", ".local/share"), "opencode/opencode.db")
  if (!existsSync(path)) return []
  return withDatabase(path, [], (database) =>
    database
      .prepare("SELECT id, directory, time_updated FROM session ORDER BY time_updated DESC LIMIT ?")
      .all(LIMITS.sessions)
      .flatMap(({ id, directory, time_updated: at }): readonly Conversation[] =>
        typeof id === "string" && (wanted.has(id) || isInside(root, String(directory)))
          ? [{ harness: "opencode", session: id, path, modifiedMs: Number(at) || 0 }]
          : [],
      ),
  )
}

/** Messages in their order, numbered from 1. */
export const readOpencodeSession = ({ path, session }: Conversation): Promise<readonly Entry[]> =>
  withDatabase(path, [], (database) => {
    const reader = openOpencodeReader(createLosses())
    const parts = new Map<string, JsonObject[]>()
    for (const row of database
      .prepare("SELECT message_id, data FROM part WHERE session_id = ? ORDER BY id LIMIT ?")
      .all(session, LIMITS.messages * 10)) {
      const part = typeof row["data"] === "string" ? parseObject(row["data"]) : undefined
      const owner = row["message_id"]
      if (part === undefined || typeof owner !== "string") continue
      const known = parts.get(owner)
      if (known === undefined) parts.set(owner, [part])
      else known.push(part)
    }
    return database
      .prepare("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id LIMIT ?")
      .all(session, LIMITS.messages)
      .flatMap(({ id, data }, index): readonly Entry[] => {
        const info = typeof data === "string" ? parseObject(data) : undefined
        if (info === undefined || typeof id !== "string") return []
        return entriesOf(reader.read({ info: { ...info, id }, parts: parts.get(id) ?? [] }), index + 1)
      })
  })

const withDatabase = async <Value>(
  path: string,
  nothing: Value,
  look: (database: DatabaseSync) => Value,
): Promise<Value> => {
  try {
    const { DatabaseSync: Database } = await import("node:sqlite")
    const database = new Database(path, { readOnly: true })
    try {
      return look(database)
    } finally {
      database.close()
    }
  } catch {
    // Locked, damaged, or of a version that keeps its sessions otherwise.
    return nothing
  }
}
