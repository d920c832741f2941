/**
 * Checks whether the engine's database of this project is whole, without changing anything, and what can be saved of
 * a damaged one.
 */
import { statSync } from "node:fs"
import { resolve } from "node:path"
import type { DatabaseSync } from "node:sqlite"

import { Failure } from "@meridian/protocol"
import { databaseIn, openPlace, type World } from "@meridian/spaces"

import { openReadOnly } from "./sessions/open-read-only.ts"

type CheckWorld = Pick<World, "env" | "cwd">

const MOST_PROBLEMS = 10

export const engineFile = ({ env, cwd }: CheckWorld): string => databaseIn(openPlace(env, cwd).root)

/** The problems, in words. [] for a database that is whole or missing. */
export const checkEngine = (file: string): readonly string[] => {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined || stats.size === 0) return []
  if (!stats.isFile()) return [`${file} is not a file`]
  let database: DatabaseSync | undefined
  try {
    database = openReadOnly(file)
    const problems = integrity(database)
    return problems.length > 0 ? problems : holes(database)
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  } finally {
    database?.close()
  }
}

const integrity = (database: DatabaseSync): readonly string[] =>
  database
    .prepare(`pragma integrity_check(${MOST_PROBLEMS})`)
    .all()
    .flatMap((row) => String(row["integrity_check"]).split("\n"))
    .filter((line) => line !== "ok" && line !== "")
    .slice(0, MOST_PROBLEMS)

/** SQLite accepts missing rows, but a log does not. */
const holes = (database: DatabaseSync): readonly string[] => {
  const tables = database.prepare("select name from sqlite_schema where name in ('session', 'event')").all()
  if (tables.length < 2) return ["it is no database of sessions"]
  return database
    .prepare(
      `select id, seq, there from (select id, seq, (select count(*) from event
         where event.id > session.key * 2147483648 and event.id <= session.key * 2147483648 + session.seq) as there
       from session) where there <> seq limit ${MOST_PROBLEMS}`,
    )
    .all()
    .map(
      (row) =>
        `session ${String(row["id"])} lacks ${Number(row["seq"]) - Number(row["there"])} of its ${String(row["seq"])} events`,
    )
}

export const salvageEngine = async (asked: string, world: CheckWorld) => {
  const from = engineFile(world)
  const stats = statSync(from, { throwIfNoEntry: false })
  if (stats === undefined) throw new Failure("ENGINE_DATABASE_NOT_FOUND", { file: from })
  if (!stats.isFile()) throw new Failure("STATE_NOT_PLAIN", { path: from })
  const file = resolve(world.cwd, asked)
  const { salvageDatabase } = await import("@meridian/engine")
  const { sessions, rest } = await salvageDatabase({ from, to: file })
  return {
    from,
    file,
    sessions: sessions.length,
    whole: sessions.filter(({ lost }) => lost === 0).length,
    events: sessions.reduce((sum, { events }) => sum + events, 0),
    lost: sessions.reduce((sum, { lost }) => sum + lost, 0),
    cut: sessions.flatMap(({ session, lost }) => (lost === 0 ? [] : [session])),
    ...(rest === undefined ? {} : { rest }),
  }
}
