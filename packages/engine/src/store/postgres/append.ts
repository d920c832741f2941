/**
 * Compare and append, for many sessions in one statement. The rows of the sessions are locked in the order of their keys.
 * Each session succeeds or fails alone; one commit and one flush serve all of them.
 *
 * An answer may get lost. Then the statement is sent again and reports whether the events at this place carry our mark.
 * They do only if the first attempt stored them.
 */
import { parseList } from "@meridian/protocol"

import type { Claim } from "../../domain/claims.ts"
import { isUniqueViolation, type Query, type Row } from "./connection.ts"
import type { IndexRows } from "./index-rows.ts"

export interface Write {
  readonly key: number
  /** Undefined: any process may write this. */
  readonly fence: number | undefined
  readonly after: number
  /** Unique to this write. */
  readonly mark: string
  readonly events: readonly StoredRow[]
  readonly rows: IndexRows
  readonly summary: string
  /** The session's values after this write. */
  readonly parkedUntil: number | undefined
  readonly workspace: string
}

export interface StoredRow {
  readonly seq: number
  readonly type: string
  readonly time: number
  readonly data: string
}

export type Outcome =
  | { readonly kind: "stored" }
  /** The session is at another sequence. Undefined: it does not exist. */
  | { readonly kind: "moved"; readonly seq: number | undefined }
  | { readonly kind: "fenced" }
  | { readonly kind: "taken"; readonly claim: Claim }

/** Sends writes of different sessions as one statement. */
export const sendWrites = async (
  query: Query,
  schema: string,
  writes: readonly Write[],
): Promise<readonly Outcome[]> => {
  const rows = await query(statement(schema), values(writes))
  const byKey = new Map(rows.map((row) => [Number(row["key"]), row]))
  return writes.map((write) => outcomeOf(write, byKey.get(write.key)))
}

/**
 * Like `sendWrites`, but when another process takes a name at the same moment, each write goes alone and sees who has the
 * name.
 */
export const sendInAnyCase = async (
  query: Query,
  schema: string,
  writes: readonly Write[],
): Promise<readonly Outcome[]> => {
  try {
    return await sendWrites(query, schema, writes)
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause
    const outcomes: Outcome[] = []
    for (const write of writes) outcomes.push(await sendAlone(query, schema, write))
    return outcomes
  }
}

const sendAlone = async (query: Query, schema: string, write: Write): Promise<Outcome> => {
  for (let tries = 0; ; tries += 1)
    try {
      const [outcome] = await sendWrites(query, schema, [write])
      return outcome ?? { kind: "moved", seq: undefined }
    } catch (cause) {
      // The name exists by now, so the next attempt sees it.
      if (!isUniqueViolation(cause) || tries === MOST_TRIES) throw cause
    }
}

const MOST_TRIES = 5

const outcomeOf = (write: Write, row: Row | undefined): Outcome => {
  if (row === undefined) return { kind: "moved", seq: undefined }
  if (row["ok"] === true || row["mine"] === true) return { kind: "stored" }
  if (row["seq"] === null)
    return write.fence === undefined ? { kind: "moved", seq: undefined } : { kind: "fenced" }
  if (write.fence !== undefined && row["fence"] !== write.fence) return { kind: "fenced" }
  if (row["seq"] !== write.after) return { kind: "moved", seq: Number(row["seq"]) }
  const taken = new Set(typeof row["taken"] === "string" ? parseList(row["taken"]) : [])
  const claim = write.rows.names.find(({ kind, id, claimed }) => claimed && taken.has(`${kind} ${id}`))
  if (claim === undefined) return { kind: "moved", seq: write.after }
  return { kind: "taken", claim: { kind: claim.kind, id: claim.id } }
}

const values = (writes: readonly Write[]): readonly unknown[] => {
  const events = writes.flatMap(({ key, events: stored }) => stored.map((event) => ({ key, event })))
  /** All rows as a set of records, each with its session's key. */
  const of = (rowsOf: (rows: IndexRows) => readonly object[]): string =>
    JSON.stringify(writes.flatMap(({ key, rows }) => rowsOf(rows).map((row) => Object.assign({ key }, row))))
  return [
    writes.map(({ key }) => key),
    writes.map(({ fence }) => fence ?? ANYONE),
    writes.map(({ after }) => after),
    writes.map(({ events: stored }) => stored.length),
    writes.map(({ mark }) => mark),
    writes.map(({ rows }) => rows.interruptSeq),
    writes.map(({ summary }) => summary),
    events.map(({ key }) => key),
    events.map(({ event }) => event.seq),
    events.map(({ event }) => event.type),
    events.map(({ event }) => event.time),
    events.map(({ event }) => event.data),
    of(({ names }) => names),
    of(({ inputs }) => inputs),
    of(({ doneInputs }) => doneInputs),
    of(({ requests }) => requests),
    of(({ replies }) => replies),
    of(({ settled }) => settled),
    of(({ approvals }) => approvals),
    of(({ revoked }) => revoked),
    writes.map(({ parkedUntil }) => parkedUntil ?? null),
    writes.map(({ workspace }) => workspace),
  ]
}

const ANYONE = -1

const statement = (schema: string): string => `
with asked as (
  select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::text[],
      $21::bigint[], $22::text[])
    as a(key, fence, seq, n, mark, interrupt, summary, parked, workspace)),
locked as (
  select s.key, s.seq, s.fence from ${schema}.session s join asked a on a.key = s.key order by s.key for update of s),
named as (
  select * from jsonb_to_recordset($13::jsonb) as n(key bigint, kind text, id text, seq bigint, claimed boolean)),
taken as (
  select n.key, n.kind || ' ' || n.id as name from named n
  join ${schema}.name t on t.kind = n.kind and t.id = n.id where n.claimed),
head as (
  update ${schema}.session s
  set seq = a.seq + a.n, interrupt_seq = greatest(s.interrupt_seq, a.interrupt), summary = a.summary,
    parked_until = a.parked, workspace = a.workspace
  from asked a join locked l on l.key = a.key
  where s.key = a.key and l.seq = a.seq and (a.fence = ${ANYONE} or l.fence = a.fence)
    and not exists (select 1 from taken t where t.key = a.key)
  returning s.key),
stored as (
  insert into ${schema}.event (session, seq, type, time, fence, mark, data)
  select e.key, e.seq, e.type, e.time, nullif(a.fence, ${ANYONE}), a.mark, e.data
  from unnest($8::bigint[], $9::bigint[], $10::text[], $11::bigint[], $12::text[]) as e(key, seq, type, time, data)
  join head h on h.key = e.key join asked a on a.key = e.key),
claimed as (
  insert into ${schema}.name (kind, id, session, seq)
  select n.kind, n.id, n.key, n.seq from named n join head h on h.key = n.key where n.claimed),
given as (
  insert into ${schema}.name (kind, id, session, seq)
  select n.kind, n.id, n.key, n.seq from named n join head h on h.key = n.key where not n.claimed
  on conflict do nothing),
came as (
  insert into ${schema}.input (session, id, seq, resume, admitted)
  select i.key, i.id, i.seq, i.resume, i.time
  from jsonb_to_recordset($14::jsonb) as i(key bigint, id text, seq bigint, resume boolean, time bigint)
  join head h on h.key = i.key),
went as (
  delete from ${schema}.input i using jsonb_to_recordset($15::jsonb) as d(key bigint, id text), head h
  where h.key = d.key and i.session = d.key and i.id = d.id),
opened as (
  insert into ${schema}.request (session, id, seq, message, call, replied)
  select r.key, r.id, r.seq, r.message, r.call, r.replied
  from jsonb_to_recordset($16::jsonb)
    as r(key bigint, id text, seq bigint, message text, call text, replied bigint)
  join head h on h.key = r.key),
replied as (
  update ${schema}.request r set replied = d.seq
  from jsonb_to_recordset($17::jsonb) as d(key bigint, id text, seq bigint), head h
  where h.key = d.key and r.session = d.key and r.id = d.id),
settled as (
  delete from ${schema}.request r
  using jsonb_to_recordset($18::jsonb) as d(key bigint, message text, call text), head h
  where h.key = d.key and r.session = d.key and r.message = d.message and r.call = d.call),
approved as (
  insert into ${schema}.approval (project, action, resource, session, seq, time)
  select p.project, p.action, p.resource, p.key, p.seq, p.time
  from jsonb_to_recordset($19::jsonb)
    as p(key bigint, project text, action text, resource text, seq bigint, time bigint)
  join head h on h.key = p.key
  on conflict do nothing),
revoked as (
  delete from ${schema}.approval p
  using jsonb_to_recordset($20::jsonb) as d(key bigint, project text, action text, resource text), head h
  where h.key = d.key and p.session = d.key
    and p.project = d.project and p.action = d.action and p.resource = d.resource)
select a.key, l.seq, l.fence, h.key is not null as ok,
  (select e.mark = a.mark from ${schema}.event e where e.session = a.key and e.seq = a.seq + 1) as mine,
  (select json_agg(t.name)::text from taken t where t.key = a.key) as taken
from asked a left join locked l on l.key = a.key left join head h on h.key = a.key`
