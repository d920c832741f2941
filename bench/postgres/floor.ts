/**
 * The least that a hand-written fenced loop on Postgres can do: every step is one statement that compares the fence and
 * appends events with the row of the session. A text turn is five round trips (take, admit, begin, end, give back), a tool
 * turn nine.
 */
import { Pool } from "pg"

export interface Floor {
  readonly prepare: (sessions: readonly string[]) => Promise<void>
  readonly turn: (session: string, kind: "text" | "tool") => Promise<void>
  /** One append of three events, as one statement. */
  readonly append: (session: string) => Promise<void>
  readonly page: (session: string, after: number, limit: number) => Promise<number>
  readonly close: () => Promise<void>
}

const DATA = JSON.stringify({ text: "x".repeat(350) })

export const openFloor = async (address: string, schema: string, connections = 16): Promise<Floor> => {
  const pool = new Pool({ connectionString: address, max: connections })
  // When a run fails, the server goes before the pool.
  pool.on("error", () => undefined)
  await pool.query(`create schema if not exists ${schema}`)
  await pool.query(
    `create table if not exists ${schema}.session (id text primary key, seq bigint not null, fence bigint not null, owner text);
     create table if not exists ${schema}.event (session text, seq bigint, type text, time bigint, data text, primary key (session, seq));
     create table if not exists ${schema}.input (id text primary key, session text, done boolean not null default false)`,
  )
  let inputs = 0
  const write = async (session: string, types: readonly string[]): Promise<void> => {
    await pool.query({
      name: `write ${types.length}`,
      text: `with head as (
          update ${schema}.session set seq = seq + $2 where id = $1 and owner = 'me' returning seq - $2 as before)
        insert into ${schema}.event
        select $1, head.before + e.ordinality, e.type, $4, $5 from head, unnest($3::text[]) with ordinality e(type)`,
      values: [session, types.length, types, Date.now(), DATA],
    })
  }
  return {
    prepare: async (sessions) => {
      await pool.query(
        `insert into ${schema}.session select id, 0, 0, 'me' from unnest($1::text[]) id on conflict do nothing`,
        [sessions],
      )
    },
    turn: async (session, kind) => {
      await pool.query({
        name: "take",
        text: `update ${schema}.session set fence = fence + 1, owner = 'me' where id = $1 returning fence`,
        values: [session],
      })
      const id = `in${(inputs += 1)}_${process.pid}`
      await pool.query({
        name: "admit",
        text: `with i as (insert into ${schema}.input values ($2, $1)), head as (
            update ${schema}.session set seq = seq + 1 where id = $1 returning seq)
          insert into ${schema}.event select $1, seq, 'admitted', $3, $4 from head`,
        values: [session, id, Date.now(), DATA],
      })
      await write(session, ["promoted", "prompted", "started"])
      if (kind === "tool") {
        await write(session, ["called"])
        await write(session, ["step.ended"])
        await write(session, ["success"])
        await write(session, ["started"])
      }
      await write(session, ["text", "ended"])
      await pool.query({
        name: "leave",
        text: `update ${schema}.session set owner = 'me' where id = $1`,
        values: [session],
      })
    },
    append: (session) => write(session, ["a", "b", "c"]),
    page: async (session, after, limit) => {
      const { rows } = await pool.query({
        name: "page",
        text: `select seq, type, time, data from ${schema}.event where session = $1 and seq > $2 and seq <= $3 order by seq`,
        values: [session, after, after + limit],
      })
      return rows.length
    },
    close: () => pool.end(),
  }
}
