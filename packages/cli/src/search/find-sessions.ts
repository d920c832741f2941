/**
 * The sessions that fit a query best, without duplicates, each with the part that shows why. The index finds the
 * parts with all the words. The parts themselves give the rank: words in a row beat words close to each other, then
 * newer beats older.
 */
import type { DatabaseSync } from "node:sqlite"

import type { Engines } from "../sessions/engine-store.ts"
import { KEEPERS, type Keeper } from "../sessions/harness-places.ts"
import { SEARCH_LIMITS } from "./limits.ts"
import type { Query } from "./query.ts"
import { readPlace } from "./read-place.ts"
import { findSnippet, type Found } from "./snippet.ts"

export interface Scope {
  /** Only sessions that worked there or below. All if absent. */
  readonly directory?: string
  readonly keeper?: Keeper
  /** Limits the search to this server's sessions. */
  readonly server?: string | undefined
}

export interface FoundSession {
  readonly keeper: Keeper
  readonly path: string
  readonly id: string
  readonly title: string | undefined
  readonly directory: string | undefined
  readonly time: number
  readonly snippet: string
}

export interface FindOptions extends Scope {
  readonly engines: Pick<Engines, "open">
  readonly limit: number
  /** Monotonic milliseconds. */
  readonly clock?: () => number
}

export const findSessions = async (
  database: DatabaseSync,
  query: Query,
  options: FindOptions,
): Promise<readonly FoundSession[]> => {
  const isLate = deadline(options.clock ?? (() => performance.now()))
  const inRow = query.phrase === undefined ? [] : matches(database, query.phrase, options, isLate)
  const wanted = new Set(inRow.map(({ session }) => session)).size < options.limit
  const rows = wanted ? [...inRow, ...matches(database, query.all, options, isLate)] : inRow
  const best = new Map<number, Weighed>()
  for (const row of someOfEach(rows)) {
    const weighed = await weigh(row, query.words, options.engines)
    const before = best.get(row.session)
    if (before === undefined || weighed.score > before.score) best.set(row.session, weighed)
  }
  return [...best.values()]
    .toSorted((one, other) => other.score - one.score || other.found.time - one.found.time)
    .slice(0, options.limit)
    .map(({ found }) => found)
}

/** How many sessions a search covers. */
export const countSessions = (database: DatabaseSync, scope: Scope): number => {
  const { condition, values } = conditionOf(scope)
  const sql = `select count(*) as n from session join source on source.id = session.source where ${condition}`
  return Number(database.prepare(sql).get(...values)?.["n"])
}

interface Row extends Omit<FoundSession, "snippet" | "id"> {
  readonly place: number
  readonly session: number
  readonly name: string
  readonly first: number
  readonly last: number
}

/**
 * Parts of sessions with these words, newest first. Common words would take long, so the index is asked in slices,
 * and the older ones are left out when time is up: a person who searches for such words means the newest.
 */
const matches = (
  database: DatabaseSync,
  match: string,
  scope: Scope,
  isLate: () => boolean,
): readonly Row[] => {
  const { condition, values } = conditionOf(scope)
  const asked = database.prepare(
    `select place.id as place, session.id as session, name, keeper, path, title, directory, first, last,
       coalesce(time, updated) as time
     from words join place on place.id = words.rowid join session on session.id = place.session
     join source on source.id = session.source
     where words match ? and words.rowid between ? and ? and ${condition}
     order by words.rowid desc limit ${SEARCH_LIMITS.candidates}`,
  )
  const ends = database.prepare("select min(id) as lowest, max(id) as highest from place").get()
  const [lowest, highest] = [Number(ends?.["lowest"] ?? 0), Number(ends?.["highest"] ?? -1)]
  const rows: Row[] = []
  for (let top = highest; top >= lowest; top -= SEARCH_LIMITS.slice) {
    rows.push(...asked.all(match, top - SEARCH_LIMITS.slice + 1, top, ...values).map(rowOf))
    if (rows.length >= SEARCH_LIMITS.candidates || isLate()) break
  }
  return rows
}

const rowOf = (row: Readonly<Record<string, unknown>>): Row => ({
  place: Number(row["place"]),
  session: Number(row["session"]),
  name: String(row["name"]),
  keeper: KEEPERS.find((keeper) => keeper === row["keeper"]) ?? "engine",
  path: String(row["path"]),
  title: typeof row["title"] === "string" ? row["title"] : undefined,
  directory: typeof row["directory"] === "string" ? row["directory"] : undefined,
  first: Number(row["first"]),
  last: Number(row["last"]),
  time: Number(row["time"]),
})

const deadline = (clock: () => number): (() => boolean) => {
  const until = clock() + SEARCH_LIMITS.queryMs
  return () => clock() > until
}

/** Reading costs time: a few parts of each session are enough to rank it, and the total is bounded. */
const someOfEach = (rows: readonly Row[]): readonly Row[] => {
  const counts = new Map<number, number>()
  const seen = new Set<number>()
  const chosen = rows.filter(({ session, place }) => {
    const count = counts.get(session) ?? 0
    if (seen.has(place) || count >= SEARCH_LIMITS.readOfSession) return false
    seen.add(place)
    counts.set(session, count + 1)
    return true
  })
  return chosen.slice(0, SEARCH_LIMITS.read)
}

const conditionOf = ({
  directory,
  keeper,
  server = "",
}: Scope): { readonly condition: string; readonly values: string[] } => {
  const inside = directory === undefined || directory === "/" ? undefined : directory.replace(/\/+$/, "")
  return {
    condition: [
      ...(inside === undefined ? [] : ["(directory = ? or substr(directory, 1, length(?)) = ?)"]),
      ...(keeper === undefined ? [] : ["keeper = ?"]),
      "(path like '/%' or path = ?)",
    ].join(" and "),
    values: [
      ...(inside === undefined ? [] : [inside, `${inside}/`, `${inside}/`]),
      ...(keeper === undefined ? [] : [keeper]),
      server,
    ],
  }
}

interface Weighed {
  readonly score: number
  readonly found: FoundSession
}

const weigh = async (
  row: Row,
  words: readonly string[],
  engines: Pick<Engines, "open">,
): Promise<Weighed> => {
  const { keeper, path, name, title, directory, first, last } = row
  let best: Found & { readonly time?: number } = { snippet: "", score: -1 }
  for (const { text, time } of await readPlace({ keeper, path, session: name, first, last }, engines)) {
    const found = findSnippet(text, words)
    if (found.score > best.score) best = time === undefined ? found : { ...found, time }
  }
  const { snippet, score } = best
  return { score, found: { keeper, path, id: name, title, directory, time: best.time ?? row.time, snippet } }
}
