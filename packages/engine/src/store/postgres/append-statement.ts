/**
 * The statements that append, and their parameters: one for many writes, and a shorter one for a write that goes alone. Both
 * leave out the tables for which their writes bring no rows. A session's work needs about ten such texts, and there can be no
 * more than 2^8 of each.
 */
import { numberArray, textArray } from "./arrays.ts"
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

export interface Statement {
  readonly sql: string
  readonly values: readonly unknown[]
}

/**
 * Appends many writes, each of another session. Its cost grows linearly with their number: the events of a write are a slice
 * of all events, and rows find their write in one array of keys. A join would compare every row with every write.
 */
export const appendMany = (schema: string, writes: readonly Write[]): Statement => {
  const kinds = kindsOf(writes)
  const names = kinds.includes("names")
  const rows = recordsFrom(14)
  const events = writes.flatMap((write) => write.events)
  /** Where the events of each write end among all events. */
  let end = 0
  const ends = writes.map((write) => (end += write.events.length))
  return {
    sql: `
with asked as (
  select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[], $5::int[], $6::text[], $7::bigint[],
      $8::text[], $9::bigint[], $10::text[])
    as a(key, number, after, first, last, mark, interrupt, summary, parked, workspace)),
locked as (
  select a.*, s.seq, s.fence from asked a join ${schema}.session s on s.key = a.key order by a.key for update of s),
${names ? `${named(rows(kinds, "names"))}, ${taken(schema)},` : ""}
head as (
  update ${schema}.session s
  set seq = l.after + l.last - l.first + 1, interrupt_seq = greatest(s.interrupt_seq, l.interrupt),
    summary = l.summary, parked_until = l.parked, workspace = l.workspace
  from locked l
  where s.key = l.key and l.seq = l.after and (l.number = ${ANYONE} or l.fence = l.number)
    ${names ? "and not exists (select 1 from taken t where t.key = l.key)" : ""}
  returning s.key, l.after, l.first, l.last, nullif(l.number, ${ANYONE}) as fence, l.mark),
stored as (
  insert into ${schema}.event (session, seq, type, time, fence, mark, data)
  select h.key, h.after + e.place, e.type, e.time, h.fence, h.mark, e.data
  from head h, unnest(
      ($11::text[])[h.first : h.last], ($12::bigint[])[h.first : h.last], ($13::text[])[h.first : h.last])
    with ordinality as e(type, time, data, place))
${kinds.map((kind) => ADDITIONS[kind](schema, rows(kinds, kind))).join("")}
select l.key, l.seq, l.fence, l.key = ${STORED} as ok
  ${names ? ", (select json_agg(t.name)::text from taken t where t.key = l.key) as taken" : ""}
from locked l`,
    values: [
      numberArray(writes.map(({ key }) => key)),
      numberArray(writes.map(({ fence }) => fence ?? ANYONE)),
      numberArray(writes.map(({ after }) => after)),
      numberArray(writes.map((write, index) => (ends[index] ?? 0) - write.events.length + 1)),
      numberArray(ends),
      textArray(writes.map(({ mark }) => mark)),
      numberArray(writes.map((write) => write.rows.interruptSeq)),
      textArray(writes.map(({ summary }) => summary)),
      numberArray(writes.map(({ parkedUntil }) => parkedUntil ?? null)),
      textArray(writes.map(({ workspace }) => workspace)),
      textArray(events.map(({ type }) => type)),
      numberArray(events.map(({ time }) => time)),
      textArray(events.map(({ data }) => data)),
      ...kinds.map((kind) => recordsOf(writes, kind)),
    ],
  }
}

/**
 * Appends one write, or returns no row and does not say why. A name that exists already is a unique violation. It takes half
 * the time of the other statement.
 */
export const appendOne = (schema: string, write: Write): Statement => {
  const { key, fence, after, mark, events, rows: index, summary, parkedUntil, workspace } = write
  const kinds = kindsOf([write])
  const rows = recordsFrom(13)
  return {
    sql: `
with ${kinds.includes("names") ? `${named(rows(kinds, "names"))},` : ""}
head as (
  update ${schema}.session s
  set seq = $2::bigint + $3::int, interrupt_seq = greatest(s.interrupt_seq, $4::bigint), summary = $5::text,
    parked_until = $6::bigint, workspace = $7::text
  where s.key = $1::bigint and s.seq = $2 and ($8::bigint is null or s.fence = $8)
  returning s.key),
stored as (
  insert into ${schema}.event (session, seq, type, time, fence, mark, data)
  select h.key, $2 + e.place, e.type, e.time, $8, $9::text, e.data
  from head h, unnest($10::text[], $11::bigint[], $12::text[]) with ordinality as e(type, time, data, place))
${kinds.map((kind) => ADDITIONS[kind](schema, rows(kinds, kind))).join("")}
select key from head`,
    values: [
      key,
      after,
      events.length,
      index.interruptSeq,
      summary,
      parkedUntil ?? null,
      workspace,
      fence ?? null,
      mark,
      textArray(events.map(({ type }) => type)),
      numberArray(events.map(({ time }) => time)),
      textArray(events.map(({ data }) => data)),
      ...kinds.map((kind) => recordsOf([write], kind)),
    ],
  }
}

const ANYONE = -1

type RowKind = Exclude<keyof IndexRows, "interruptSeq">

/** The kinds of rows that come with these writes, in a fixed order. */
const kindsOf = (writes: readonly Write[]): readonly RowKind[] =>
  KINDS.filter((kind) => writes.some(({ rows }) => rows[kind].length > 0))

/** Rows of one kind as a set of records, each with its session's key. */
const recordsOf = (writes: readonly Write[], kind: RowKind): string =>
  JSON.stringify(writes.flatMap(({ key, rows }) => rows[kind].map((row) => Object.assign({ key }, row))))

/** How the statement reads the records of a kind: the parameters of the kinds follow one another. */
const recordsFrom =
  (first: number) =>
  (kinds: readonly RowKind[], kind: RowKind): string =>
    `jsonb_to_recordset($${first + kinds.indexOf(kind)}::jsonb)`

/** The keys of the sessions whose write was stored. */
const STORED = "any(array(select key from head))"

const named = (records: string): string => `named as (
  select * from ${records} as n(key bigint, kind text, id text, seq bigint, claimed boolean))`

const taken = (schema: string): string => `taken as (
  select n.key, n.kind || ' ' || n.id as name from named n
  join ${schema}.name t on t.kind = n.kind and t.id = n.id where n.claimed)`

/** What the rows of each kind change, where their write was stored. */
const ADDITIONS: Readonly<Record<RowKind, (schema: string, records: string) => string>> = {
  names: (schema) => `,
claimed as (
  insert into ${schema}.name (kind, id, session, seq)
  select n.kind, n.id, n.key, n.seq from named n where n.claimed and n.key = ${STORED}),
given as (
  insert into ${schema}.name (kind, id, session, seq)
  select n.kind, n.id, n.key, n.seq from named n where not n.claimed and n.key = ${STORED}
  on conflict do nothing)`,
  inputs: (schema, records) => `,
came as (
  insert into ${schema}.input (session, id, seq, resume, admitted)
  select i.key, i.id, i.seq, i.resume, i.time
  from ${records} as i(key bigint, id text, seq bigint, resume boolean, time bigint)
  where i.key = ${STORED})`,
  doneInputs: (schema, records) => `,
went as (
  delete from ${schema}.input i using ${records} as d(key bigint, id text)
  where d.key = ${STORED} and i.session = d.key and i.id = d.id)`,
  settled: (schema, records) => `,
settled as (
  delete from ${schema}.request r using ${records} as d(key bigint, message text, call text)
  where d.key = ${STORED} and r.session = d.key and r.message = d.message and r.call = d.call)`,
  requests: (schema, records) => `,
opened as (
  insert into ${schema}.request (session, id, seq, message, call, replied)
  select r.key, r.id, r.seq, r.message, r.call, r.replied
  from ${records} as r(key bigint, id text, seq bigint, message text, call text, replied bigint)
  where r.key = ${STORED})`,
  replies: (schema, records) => `,
replied as (
  update ${schema}.request r set replied = d.seq
  from ${records} as d(key bigint, id text, seq bigint)
  where d.key = ${STORED} and r.session = d.key and r.id = d.id)`,
  approvals: (schema, records) => `,
approved as (
  insert into ${schema}.approval (project, action, resource, session, seq, time)
  select p.project, p.action, p.resource, p.key, p.seq, p.time
  from ${records} as p(key bigint, project text, action text, resource text, seq bigint, time bigint)
  where p.key = ${STORED}
  on conflict do nothing)`,
  revoked: (schema, records) => `,
revoked as (
  delete from ${schema}.approval p
  using ${records} as d(key bigint, project text, action text, resource text)
  where d.key = ${STORED} and p.session = d.key
    and p.project = d.project and p.action = d.action and p.resource = d.resource)`,
}

const KINDS: readonly RowKind[] = [
  "names",
  "inputs",
  "doneInputs",
  "settled",
  "requests",
  "replies",
  "approvals",
  "revoked",
]
