/**
 * The full-text index of what was said and done, per session. It is in memory, is built from the log on first use and then
 * follows it by sequence. Searching is rare and writing is not, so writing pays nothing for it.
 */
import { describeEvent } from "../../domain/describe-event.ts"
import { LIMITS } from "../../domain/limits.ts"
import type { Hit } from "../../port/store.ts"
import type { Database } from "./database.ts"
import type { EventReader } from "./events.ts"

const HIT_CHARACTERS = 400
const INDEXED_SESSIONS = 4
const MOST_WORDS = 20

export const createSearch = (
  { raw }: Database,
  log: EventReader,
): ((session: string, words: string) => readonly Hit[]) => {
  /** How far each session is indexed. The first entry was indexed longest ago. */
  const through = new Map<number, number>()

  const tableOf = (key: number): string => `recall_${key}`

  const open = (key: number): void => {
    const surplus = Math.max(0, through.size - INDEXED_SESSIONS + 1)
    for (const oldest of [...through.keys()].slice(0, surplus)) {
      through.delete(oldest)
      raw.exec(`drop table if exists temp.${tableOf(oldest)}`)
    }
    raw.exec(
      `create virtual table if not exists temp.${tableOf(key)} using fts5(text, tokenize = 'unicode61')`,
    )
    through.set(key, 0)
  }

  const follow = (session: string, key: number): void => {
    if (!through.has(key)) open(key)
    const insert = raw.prepare(`insert into temp.${tableOf(key)} (rowid, text) values (?, ?)`)
    for (;;) {
      const page = log.events({ session, after: through.get(key) ?? 0, limit: LIMITS.eventsPerPage })
      for (const event of page) {
        const text = describeEvent(event)
        if (text !== "") insert.run(event.seq, text)
        through.set(key, event.seq)
      }
      if (page.length < LIMITS.eventsPerPage) return
    }
  }

  return (session, query) => {
    const key = log.keyOf(session)
    if (key === undefined) return []
    follow(session, key)
    // Every word is quoted, so no query is a syntax error.
    const words = (query.match(/[\p{L}\p{N}_]+/gu) ?? []).slice(0, MOST_WORDS).map((word) => `"${word}"`)
    if (words.length === 0) return []
    const table = tableOf(key)
    const select = raw.prepare(
      `select rowid as seq, snippet(${table}, 0, '', '', ' ... ', 60) as text
       from temp.${table} where ${table} match ? order by rank limit ${LIMITS.recallHits}`,
    )
    const all = select.all(words.join(" AND "))
    const rows = all.length > 0 ? all : select.all(words.join(" OR "))
    return rows.map((row) => ({
      seq: Number(row["seq"]),
      text: String(row["text"]).slice(0, HIT_CHARACTERS),
    }))
  }
}
