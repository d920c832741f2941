/**
 * The nodes of a cluster, and whether one is lost. Each increments its own counter and holds a lock that the server drops
 * when its connection breaks. No clocks are compared. A node is lost when its counter has not moved for the whole lease on
 * the observer's own clock, or for a short time when its lock is gone as well.
 */
import { hostname } from "node:os"

import type { Offer } from "../../domain/stranded.ts"
import type { Connection, Query, Row } from "./connection.ts"

export interface Workers {
  readonly me: string
  /** A sign of life. Returns whether there are other nodes. */
  readonly beat: () => Promise<boolean>
  /** Which of these nodes are lost. */
  readonly lost: (ids: readonly string[]) => Promise<ReadonlySet<string>>
  /** Forgets lost nodes that hold no sessions. */
  readonly sweep: () => Promise<void>
  /** For the connection that carries our lock. */
  readonly takePlace: (query: Query) => Promise<void>
  /** Takes up no session from now on, and announces it. */
  readonly retire: () => Promise<void>
  readonly isRetired: () => boolean
  /** What the nodes that are not lost offer. */
  readonly offers: () => Promise<readonly Offer[]>
  readonly leave: () => Promise<void>
}

/** What a node offers to sessions, and its identity. */
export interface NodeOffer {
  /** How many sessions it works on at once. */
  readonly places: number
  readonly workspaces: readonly string[]
  readonly format: number
  /** Where its HTTP server is reached. */
  readonly address?: string | undefined
}

/** The first half of all our lock numbers, to avoid collisions with other programs: "meri". */
const LOCKS = 0x6d_65_72_69
/** A broken connection alone says little, because it may be reopened at once. */
const ABSENT_MS = 1_500

export const openWorkers = (options: {
  readonly connection: Connection
  readonly schema: string
  readonly me: string
  /** A random number that practically no other node has. */
  readonly presence: number
  readonly leaseMs: number
  readonly offer: NodeOffer
  readonly monotonic: () => number
}): Workers => {
  const { connection, schema, me, presence, leaseMs, monotonic } = options
  const { places, workspaces, format, address } = options.offer
  let retired = false
  const seen = new Map<string, { readonly beat: number; readonly since: number }>()

  /** How long its counter has not moved while we watched. */
  const silence = (id: string, beat: number): number => {
    const last = seen.get(id)
    if (last?.beat === beat) return monotonic() - last.since
    seen.set(id, { beat, since: monotonic() })
    return 0
  }

  const lost: Workers["lost"] = async (ids) => {
    if (ids.length === 0) return new Set()
    const rows = await connection.ask(
      `select w.id, w.beat, exists (
         select 1 from pg_locks l where l.locktype = 'advisory' and l.classid = ${LOCKS} and l.objid::bigint = w.presence
           and l.objsubid = 2 and l.granted
           and l.database = (select oid from pg_database where datname = current_database())) as present
       from ${schema}.worker w where w.id = any($1::text[])`,
      [ids],
    )
    const alive = new Set<string>()
    for (const row of rows) {
      const id = String(row["id"])
      const bound = row["present"] === true ? leaseMs : Math.min(leaseMs, ABSENT_MS)
      if (silence(id, Number(row["beat"])) < bound) alive.add(id)
    }
    return new Set(ids.filter((id) => !alive.has(id)))
  }

  return {
    me,
    lost,
    sweep: async () => {
      const rows = await connection.ask(`select id from ${schema}.worker where id <> $1`, [me])
      const gone = [...(await lost(rows.map((row) => String(row["id"]))))]
      if (gone.length === 0) return
      const forgotten = await connection.ask(
        `delete from ${schema}.worker w where w.id = any($1::text[])
           and not exists (select 1 from ${schema}.session s where s.owner = w.id) returning w.id`,
        [gone],
      )
      for (const row of forgotten) seen.delete(String(row["id"]))
    },
    // The row may be gone, because another node took us for lost. We are here again, without sessions.
    beat: async () => {
      const [row] = await connection.ask(
        `insert into ${schema}.worker (id, presence, host, places, workspaces, format, address, draining, beat)
         values ($1, $2, $3, $4, $5, $6, $7, $8, 1)
         on conflict (id) do update set beat = ${schema}.worker.beat + 1, draining = $8
         returning exists (select 1 from ${schema}.worker w where w.id <> $1) as others`,
        [me, presence, HOST, places, workspaces, format, address ?? null, retired],
      )
      return row?.["others"] === true
    },
    takePlace: async (query) => {
      // An old connection of ours may still hold the lock. Then it vouches for us until the server drops it.
      await query("select pg_try_advisory_lock($1, $2)", [LOCKS, presence])
    },
    retire: async () => {
      retired = true
      await connection.ask(`update ${schema}.worker set draining = true where id = $1`, [me])
    },
    isRetired: () => retired,
    offers: async () => {
      const rows = await connection.ask(
        `select w.id, w.workspaces, w.format, w.places, w.draining,
           (select count(*) from ${schema}.session s where s.owner = w.id and s.published) as taken
         from ${schema}.worker w`,
      )
      const gone = await lost(rows.flatMap((row) => (row["id"] === me ? [] : [String(row["id"])])))
      return rows.flatMap((row) => (gone.has(String(row["id"])) ? [] : [offerOf(row)]))
    },
    leave: async () => {
      await connection.ask(`delete from ${schema}.worker where id = $1`, [me])
    },
  }
}

/** The name for people. */
export const HOST = `${hostname()} ${process.pid}`

export const offerOf = (row: Row): Offer => ({
  workspaces: namesOf(row["workspaces"]),
  format: Number(row["format"]),
  places: Number(row["places"]),
  taken: Number(row["taken"]),
  leaves: row["draining"] === true,
})

const namesOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [])
