/**
 * Which session an interactive OpenCode used. It keeps sessions in SQLite (`$XDG_DATA_HOME/opencode/opencode.db`, table
 * `session`: id, parent_id, directory, time_created, time_updated in milliseconds), read here without writing; when the
 * table is not as expected, `opencode session list` is asked once the process has ended.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"

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

import type { Environment, SessionSearch } from "../port/harness.ts"
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

/** The first one made after the start: what the session itself spawns comes later. */
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

const databasePath = (environment: Environment): string =>
  join(
    environment["XDG_DATA_HOME"] ?? join(environment["HOME"] ?? "", ".local", "share"),
    "opencode",
    "opencode.db",
  )

/** It lists what belongs to the directory it is asked in; a row that does not name one is from there. */
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
