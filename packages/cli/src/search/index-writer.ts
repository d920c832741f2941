/** Changes to the index, in its own words. A failure here is never the fault of the source being read. */
import { isAbsolute } from "node:path"
import type { DatabaseSync } from "node:sqlite"

import type { About } from "@meridian/continuity"

import type { Keeper } from "../sessions/harness-places.ts"
import { SEARCH_LIMITS } from "./limits.ts"

export interface KnownSource {
  readonly id: number
  readonly stamp: string
  readonly through: number
  readonly head: string
}

export interface IndexWriter {
  readonly begin: () => void
  readonly commit: () => void
  /** Commits when enough bytes of sources were read since. `before` makes the committed state consistent. */
  readonly mayCommit: (bytes: number, before: () => void) => void
  readonly sourceOf: (path: string) => KnownSource | undefined
  readonly putSource: (source: { readonly path: string; readonly keeper: Keeper }) => number
  /** How far a file was indexed. */
  readonly setThrough: (source: number, through: number, head: string) => void
  /** The source is indexed in its present state. */
  readonly setStamp: (source: number, stamp: string) => void
  /**
   * Removes files not among these, because they were deleted. Keeps servers, which may only not have been named this
   * time.
   */
  readonly keepSources: (paths: ReadonlySet<string>) => void
  readonly keepSessions: (source: number, names: ReadonlySet<string>) => void
  readonly forgetSessions: (source: number) => void
  readonly forgetSession: (source: number, name: string) => void
  readonly putSession: (source: number, name: string, updated: number) => number
  /** The only session of a file, whatever its current name. */
  readonly putOnlySession: (source: number, name: string, updated: number) => number
  readonly describe: (session: number, about: About) => void
  readonly markOf: (source: number, name: string) => number | undefined
  readonly setMark: (session: number, mark: number) => void
  readonly addPlace: (place: IndexedPlace) => void
}

export interface IndexedPlace {
  readonly session: number
  readonly first: number
  /** Follows the last one. */
  readonly last: number
  readonly time: number | undefined
  readonly words: string
}

export class IndexFailure extends Error {
  override readonly name = "IndexFailure"
}

/** Only files are named by absolute paths. */
const isServer = (path: string): boolean => !isAbsolute(path)

type Value = string | number | null

export const openIndexWriter = (database: DatabaseSync): IndexWriter => {
  const asIndexFailure = <Result>(work: () => Result): Result => {
    try {
      return work()
    } catch (cause) {
      throw new IndexFailure("The index cannot be written.", { cause })
    }
  }
  const change = (sql: string): ((...values: readonly Value[]) => number) => {
    const statement = database.prepare(sql)
    // Ids of FTS5 can exceed what a number can hold.
    statement.setReadBigInts(true)
    return (...values) => asIndexFailure(() => Number(statement.run(...values).lastInsertRowid))
  }
  const look = (sql: string): ((...values: readonly Value[]) => Readonly<Record<string, unknown>>[]) => {
    const statement = database.prepare(sql)
    return (...values) => asIndexFailure(() => statement.all(...values))
  }
  const source = look("select id, stamp, through, head from source where path = ?")
  const sources = look("select id, path from source")
  const session = look("select id, mark from session where source = ? and name = ?")
  const sessions = look("select id, name from session where source = ?")
  const insertSource = change("insert into source (path, keeper, stamp) values (?, ?, '')")
  const insertSession = change("insert into session (source, name, updated) values (?, ?, ?)")
  const touch = change("update session set updated = ? where id = ?")
  const describe = change("update session set name = ?, title = ?, directory = ?, began = ? where id = ?")
  const setMark = change("update session set mark = ? where id = ?")
  const setStamp = change("update source set stamp = ? where id = ?")
  const setThrough = change("update source set through = ?, head = ? where id = ?")
  const insertPlace = change("insert into place (session, first, last, time) values (?, ?, ?, ?)")
  const insertWords = change("insert into words (rowid, text) values (?, ?)")
  const dropWords = change("delete from words where rowid in (select id from place where session = ?)")
  const dropPlaces = change("delete from place where session = ?")
  const dropSession = change("delete from session where id = ?")
  const dropSource = change("delete from source where id = ?")
  let uncommitted = 0

  const forget = (id: number): void => {
    dropWords(id)
    dropPlaces(id)
    dropSession(id)
  }
  const put = (found: unknown, make: () => number, updated: number): number => {
    if (found === undefined) return make()
    touch(updated, Number(found))
    return Number(found)
  }
  const commit = (): void => {
    asIndexFailure(() => database.exec("commit"))
    uncommitted = 0
  }
  const begin = (): void => asIndexFailure(() => database.exec("begin immediate"))

  return {
    begin,
    commit,
    mayCommit: (bytes, before) => {
      uncommitted += bytes
      if (uncommitted < SEARCH_LIMITS.commitBytes) return
      before()
      commit()
      begin()
    },
    sourceOf: (path) => {
      const [row] = source(path)
      if (row === undefined) return undefined
      return {
        id: Number(row["id"]),
        stamp: String(row["stamp"]),
        through: Number(row["through"]),
        head: String(row["head"]),
      }
    },
    putSource: ({ path, keeper }) => Number(source(path)[0]?.["id"] ?? insertSource(path, keeper)),
    setThrough: (id, through, head) => void setThrough(through, head, id),
    setStamp: (id, stamp) => void setStamp(stamp, id),
    keepSources: (paths) => {
      for (const { id, path } of sources()) {
        if (paths.has(String(path)) || isServer(String(path))) continue
        for (const kept of sessions(Number(id))) forget(Number(kept["id"]))
        dropSource(Number(id))
      }
    },
    keepSessions: (id, names) => {
      for (const kept of sessions(id)) if (!names.has(String(kept["name"]))) forget(Number(kept["id"]))
    },
    forgetSessions: (id) => {
      for (const kept of sessions(id)) forget(Number(kept["id"]))
    },
    forgetSession: (id, name) => {
      const [found] = session(id, name)
      if (found !== undefined) forget(Number(found["id"]))
    },
    putSession: (id, name, updated) =>
      put(session(id, name)[0]?.["id"], () => insertSession(id, name, updated), updated),
    putOnlySession: (id, name, updated) =>
      put(sessions(id)[0]?.["id"], () => insertSession(id, name, updated), updated),
    describe: (id, { id: name, title, directory, began }) =>
      void describe(name, title ?? null, directory ?? null, began ?? null, id),
    markOf: (id, name) => {
      const [found] = session(id, name)
      return found === undefined ? undefined : Number(found["mark"])
    },
    setMark: (id, mark) => void setMark(mark, id),
    addPlace: ({ session: id, first, last, time, words }) => {
      if (words !== "") insertWords(insertPlace(id, first, last, time ?? null), words)
    },
  }
}
