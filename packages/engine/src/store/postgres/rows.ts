/** What nodes read directly from the server: the lists across all sessions, and the log of one. */
import type { EventRow } from "@meridian/protocol"

import type { GivenApproval, SavedApproval } from "../../domain/permission.ts"
import { NEVER } from "../../domain/transcript/parking.ts"
import type { EventRange, Parked, Placed, Stay, Stretch } from "../../port/store.ts"
import type { Connection, Row } from "./connection.ts"
import { indexed } from "./index-rows.ts"
import { readSummary, type LogSummary } from "./summary.ts"

export interface ServerRows {
  readonly head: (session: string) => Promise<Head | undefined>
  readonly sessions: (stretch: Stretch) => Promise<readonly Placed<Head>[]>
  /** Sequences have no gaps, so a page is a range of them. The query planner cannot go wrong with that. */
  readonly events: (key: number, after: number, limit: number) => Promise<readonly EventRow[]>
  /** Events behind a place. Undefined when the session does not exist. */
  readonly page: (range: EventRange) => Promise<LogPage | undefined>
  /** The session in which a name is used. */
  readonly sessionOf: (kind: "input" | "request", id: string) => Promise<string | undefined>
  readonly stays: (session: string) => Promise<readonly Stay[]>
  readonly asking: () => Promise<readonly string[]>
  /** Sessions that wait for the answer to a question of the engine. */
  readonly paused: () => Promise<readonly string[]>
  readonly parked: () => Promise<readonly Parked[]>
  readonly approvals: (project: string) => Promise<readonly SavedApproval[]>
  readonly givenApprovals: () => Promise<readonly GivenApproval[]>
  readonly approvedIn: (approval: SavedApproval & { readonly project: string }) => Promise<readonly string[]>
}

/** A session's row. */
export interface Head {
  readonly key: number
  readonly id: string
  readonly seq: number
  readonly owner: string | undefined
  /** The machine and process that had it last. */
  readonly host: string | undefined
  readonly isAsking: boolean
  /** One of its calls asks a question other than a permission. */
  readonly isQuestioning: boolean
  readonly isAnswered: boolean
  readonly summary: LogSummary
}

/** Of one session. */
const MOST_STAYS = 200

/** The id shows what is asked: a permission or something else. */
const IS_QUESTION = "r.id like 'que\\_%'"

/** A part of a log, with the head of its session at the same moment. */
export interface LogPage {
  readonly key: number
  readonly head: number
  readonly rows: readonly EventRow[]
}

export const createServerRows = (connection: Connection, schema: string): ServerRows => {
  const HEAD = `select s.key, s.id, s.seq, s.owner, s.host, s.summary,
      exists (select 1 from ${schema}.request r
        where r.session = s.key and r.replied is null and not ${IS_QUESTION}) as asking,
      exists (select 1 from ${schema}.request r
        where r.session = s.key and r.replied is null and ${IS_QUESTION}) as questioning,
      exists (select 1 from ${schema}.request r where r.session = s.key and r.replied is not null) as answered
    from ${schema}.session s where s.published`

  return {
    head: async (session) => {
      const [row] = await connection.ask(`${HEAD} and s.id = $1`, [session])
      return row === undefined ? undefined : headOf(row)
    },
    sessions: async ({ direction, from, limit }) => {
      const rows =
        direction === "up"
          ? await connection.ask(`${HEAD} and s.key > $1 order by s.key limit $2`, [from ?? 0, limit])
          : await connection.ask(`${HEAD} and s.key < $1 order by s.key desc limit $2`, [
              from ?? Number.MAX_SAFE_INTEGER,
              limit,
            ])
      return rows.map((row) => ({ place: Number(row["key"]), item: headOf(row) }))
    },
    events: async (key, after, limit) => {
      const rows = await connection.ask(
        `select seq, type, time, data from ${schema}.event
         where session = $1 and seq > $2 and seq <= $3 order by seq`,
        [key, after, after + limit],
      )
      return rows.map(eventRowOf)
    },
    page: async ({ session, after, limit, bytes }) => {
      const rows = await connection.ask(
        `select s.key, s.seq as head, e.seq, e.type, e.time, e.data
         from ${schema}.session s left join lateral (
           select p.* from (
             select seq, type, time, data,
               sum(octet_length(data)) over (order by seq) - octet_length(data) as before
             from ${schema}.event where session = s.key and seq > $2 and seq <= $3) p
           where $4::bigint is null or p.before < $4) e on true
         where s.id = $1 and s.published order by e.seq`,
        [session, after, after + limit, bytes ?? null],
      )
      const [first] = rows
      if (first === undefined) return undefined
      const found = first["seq"] === null ? [] : rows.map(eventRowOf)
      return { key: Number(first["key"]), head: Number(first["head"]), rows: found }
    },
    sessionOf: async (kind, id) => {
      const [row] = await connection.ask(
        `select s.id from ${schema}.name n join ${schema}.session s on s.key = n.session and s.published
         where n.kind = $1 and n.id = $2`,
        [kind, indexed(id)],
      )
      return row === undefined ? undefined : String(row["id"])
    },
    stays: async (session) => {
      const rows = await connection.ask(
        `select t.host, t.fence, t.seq, t.time from ${schema}.stay t join ${schema}.session s on s.key = t.session
         where s.id = $1 and s.published order by t.fence desc limit ${MOST_STAYS}`,
        [session],
      )
      return rows
        .map((row) => ({
          host: String(row["host"]),
          fence: Number(row["fence"]),
          seq: Number(row["seq"]),
          time: Number(row["time"]),
        }))
        .toReversed()
    },
    asking: async () =>
      (
        await connection.ask(
          `select s.id from ${schema}.session s join ${schema}.request r on r.session = s.key
           where s.published and r.replied is null group by s.key, s.id order by min(s.key)`,
        )
      ).map((row) => String(row["id"])),
    paused: async () =>
      (
        await connection.ask(
          `select id from ${schema}.session where published and parked_until = $1 order by key`,
          [NEVER],
        )
      ).map((row) => String(row["id"])),
    parked: async () =>
      (
        await connection.ask(
          `select id, parked_until from ${schema}.session
           where published and parked_until is not null order by parked_until`,
        )
      ).map((row) => ({ session: String(row["id"]), until: Number(row["parked_until"]) })),
    approvals: async (project) =>
      (
        await connection.ask(
          `select action, resource from ${schema}.approval where project = $1
           group by action, resource order by min(time), min(seq)`,
          [indexed(project)],
        )
      ).map((row) => ({ action: String(row["action"]), resource: String(row["resource"]) })),
    givenApprovals: async () =>
      (
        await connection.ask(
          `select distinct on (p.project, p.action, p.resource) p.project, p.action, p.resource, p.time, p.seq, s.id, s.key
           from ${schema}.approval p join ${schema}.session s on s.key = p.session and s.published
           order by p.project, p.action, p.resource, p.time, s.key, p.seq`,
        )
      )
        .toSorted(
          (left, right) =>
            Number(left["time"]) - Number(right["time"]) ||
            Number(left["key"]) - Number(right["key"]) ||
            Number(left["seq"]) - Number(right["seq"]),
        )
        .map((row) => ({
          project: String(row["project"]),
          action: String(row["action"]),
          resource: String(row["resource"]),
          session: String(row["id"]),
          time: Number(row["time"]),
        })),
    approvedIn: async ({ project, action, resource }) =>
      (
        await connection.ask(
          `select s.id from ${schema}.approval p join ${schema}.session s on s.key = p.session and s.published
           where p.project = $1 and p.action = $2 and p.resource = $3 order by s.key`,
          [indexed(project), indexed(action), indexed(resource)],
        )
      ).map((row) => String(row["id"])),
  }
}

const eventRowOf = (row: Row): EventRow => ({
  seq: Number(row["seq"]),
  type: String(row["type"]),
  time: Number(row["time"]),
  data: String(row["data"]),
})

const headOf = (row: Row): Head => ({
  key: Number(row["key"]),
  id: String(row["id"]),
  seq: Number(row["seq"]),
  owner: typeof row["owner"] === "string" ? row["owner"] : undefined,
  host: typeof row["host"] === "string" ? row["host"] : undefined,
  isAsking: row["asking"] === true,
  isQuestioning: row["questioning"] === true,
  isAnswered: row["answered"] === true,
  summary: readSummary(String(row["summary"])),
})
