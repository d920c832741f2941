/** What a machine's store holds, seen from outside any engine: the SQLite file or the shared memory. */
import { existsSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"

import { isRunnable, requestsOf } from "@meridian/testkit/memory-store"

import { integrityOf, rebuiltDifferently } from "./engine-laws.ts"
import type { Machine } from "./engine-life.ts"

export const STORES = ["sqlite", "memory"] as const

/** One sentence for each fault in the file. */
export const damageOf = ({ memory }: Machine, file: string): readonly string[] => {
  if (memory !== undefined) return []
  return [
    ...(integrityOf(file) === "ok" ? [] : ["the database is damaged"]),
    ...rebuiltDifferently(file).map((table) => `${table} is rebuilt differently`),
  ]
}

/** All events, including those of hidden sessions. */
export const eventCount = ({ memory }: Machine, file: string): number =>
  memory === undefined
    ? readFile(file, (raw) => Number(raw.prepare("select count(*) as count from event").get()?.["count"]))
    : [...memory.sessions.values()].reduce((sum, { events }) => sum + events.length, 0)

/** Whether an input asks to be run, or a question may be answered. */
export const hasWork = ({ memory }: Machine, file: string): boolean => {
  if (memory !== undefined)
    return [...memory.sessions.values()].some(
      ({ id, events }) => isRunnable(id, events) || requestsOf(id, events).length > 0,
    )
  if (!existsSync(file)) return false
  try {
    return readFile(file, (raw) => raw.prepare(WORK).all().length > 0)
  } catch {
    // The process died before it made the tables.
    return false
  }
}

const WORK = `select 1 from input join session on session.key = input.admitted / 2147483648
    where promoted is null and cancelled is null and resume = 1 and admitted % 2147483648 > interrupt_seq
  union all select 1 from request where withdrawn = 0`

const readFile = <A>(file: string, read: (raw: DatabaseSync) => A): A => {
  const raw = new DatabaseSync(file, { readOnly: true })
  try {
    return read(raw)
  } finally {
    raw.close()
  }
}
