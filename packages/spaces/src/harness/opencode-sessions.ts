/**
 * Finds which session an interactive OpenCode used. It keeps sessions in SQLite
 * (`$XDG_DATA_HOME/opencode/opencode.db`, table `session`: id, parent_id, directory, time_created, time_updated in
 * milliseconds), which we read without writing. If the table is not as expected, we ask `opencode session list` once
 * the process has ended. The table `message` (session_id, time_created, data as JSON) has `modelID`, `cost` and
 * `tokens` of each answer.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { SQLOutputValue } from "node:sqlite"

import {
  asObject,
  countAt,
  type HarnessSessionId,
  numberAt,
  objectAt,
  parseList,
  textAt,
  wordAt,
} from "@meridian/protocol"

import type {
  Environment,
  KeptRequest,
  KeptRequests,
  KeptSearch,
  SessionSearch,
  WordSearch,
} from "../port/harness.ts"
import { asSession } from "./stream-parser.ts"

interface Session {
  readonly id: string
  readonly directory: string
  readonly createdAtMs: number
}

export const findOpencodeSession = async (
  search: SessionSearch,
  binary: string,
): Promise<HarnessSessionId | undefined> => {
  const stored = choose(await storedSessions(search), search)
  if (stored !== undefined || search.ask === undefined) return stored
  try {
    const answer = await search.ask({
      command: search.binary ?? binary,
      args: ["session", "list", "--format", "json", "-n", "50"],
      cwd: search.cwd,
      environment: { ...search.environment, PWD: search.cwd },
      timeoutMs: 20_000,
    })
    return choose(listedSessions(answer ?? "", search.cwd), search)
  } catch {
    return undefined
  }
}

/** The first session made after the start. Those that the session itself spawns come later. */
const choose = (sessions: readonly Session[], search: SessionSearch): HarnessSessionId | undefined => {
  const fitting = sessions
    .filter(
      ({ directory, createdAtMs }) => directory === search.cwd && createdAtMs >= search.startedAtMs - 1000,
    )
    .filter(({ id }) => search.taken?.includes(id) !== true)
    .sort((left, right) => left.createdAtMs - right.createdAtMs)
  return asSession(fitting[0]?.id ?? "")
}

const storedSessions = async (search: SessionSearch): Promise<readonly Session[]> => {
  const path = databasePath(search.environment)
  if (!existsSync(path)) return []
  try {
    const { DatabaseSync } = await import("node:sqlite")
    using database = new DatabaseSync(path, { readOnly: true, timeout: 500 })
    return database
      .prepare(
        "SELECT id, directory, time_created AS created FROM session WHERE parent_id IS NULL AND directory = ? ORDER BY time_created DESC LIMIT 200",
      )
      .all(search.cwd)
      .map((row) => ({
        id: String(row["id"]),
        directory: String(row["directory"]),
        createdAtMs: Number(row["created"]),
      }))
  } catch {
    return []
  }
}

/** Includes requests of sub-agents. They have their own sessions, which the stream does not mention. */
export const keptByOpencode =
  ({ id, environment, sinceMs }: KeptSearch): KeptRequests =>
  async () => {
    const path = databasePath(environment)
    if (!existsSync(path)) return []
    try {
      const { DatabaseSync } = await import("node:sqlite")
      using database = new DatabaseSync(path, { readOnly: true, timeout: 500 })
      return database.prepare(ANSWERS).all(id, sinceMs).map(requestOf)
    } catch {
      return []
    }
  }

/** Each part of a message has its time, and its text as JSON, including text added to a tool's output. */
export const wordsInOpencode = async ({ id, environment, sinceMs, words }: WordSearch): Promise<boolean> => {
  const path = databasePath(environment)
  if (!existsSync(path)) return false
  try {
    const { DatabaseSync } = await import("node:sqlite")
    using database = new DatabaseSync(path, { readOnly: true, timeout: 500 })
    const found = database.prepare(
      "SELECT 1 FROM part WHERE session_id = ? AND time_updated >= ? AND instr(data, ?) > 0 LIMIT 1",
    )
    return words.every((text) => found.get(id, sinceMs, JSON.stringify(text).slice(1, -1)) !== undefined)
  } catch {
    return false
  }
}

/** An unfinished answer has used nothing yet. */
const ANSWERS = `
  WITH RECURSIVE family(id) AS (
    SELECT ? UNION SELECT session.id FROM session JOIN family ON session.parent_id = family.id
  )
  SELECT time_created AS at, data ->> '$.modelID' AS model, data ->> '$.cost' AS cost,
    data ->> '$.tokens.input' AS input, data ->> '$.tokens.output' AS output,
    data ->> '$.tokens.reasoning' AS reasoning, data ->> '$.tokens.cache.read' AS read,
    data ->> '$.tokens.cache.write' AS written
  FROM message
  WHERE session_id IN (SELECT id FROM family) AND time_created >= ?
    AND data ->> '$.role' = 'assistant' AND data ->> '$.finish' IS NOT NULL
  ORDER BY time_created`

const requestOf = (row: Readonly<Record<string, SQLOutputValue>>): KeptRequest => ({
  atMs: Number(row["at"]),
  model: String(row["model"] ?? ""),
  inputTokens: Number(row["input"] ?? 0),
  cacheWriteTokens: Number(row["written"] ?? 0),
  cachedInputTokens: Number(row["read"] ?? 0),
  outputTokens: Number(row["output"] ?? 0) + Number(row["reasoning"] ?? 0),
  costUsd: Number(row["cost"] ?? 0),
})

const databasePath = (environment: Environment): string =>
  join(
    environment["XDG_DATA_HOME"] ?? join(environment["HOME"] ?? "", ".local", "share"),
    "opencode",
    "opencode.db",
  )

/** The command lists the sessions of the directory it runs in, so a row without a directory belongs there. */
const listedSessions = (answer: string, cwd: string): readonly Session[] =>
  parseList(answer).map((value) => {
    const row = asObject(value)
    const time = objectAt(row, "time")
    return {
      id: wordAt(row, "id"),
      directory: textAt(row, "directory") ?? cwd,
      createdAtMs: numberAt(row, "created") ?? numberAt(time, "created") ?? countAt(row, "updated"),
    }
  })
