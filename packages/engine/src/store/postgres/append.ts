/**
 * Compare and append, for many sessions in one statement. The rows of the sessions are locked in the order of their keys.
 * Each session succeeds or fails alone; one commit and one flush serve all of them.
 *
 * An answer may get lost. Then the statement is sent again, and refused if the first attempt stored the events: the events at
 * this place carry our mark. We look for the mark after the refusal, because a statement does not see what was committed
 * while it waited for its lock.
 */
import { parseList } from "@meridian/protocol"

import type { Claim } from "../../domain/claims.ts"
import { isUniqueViolation, type Query, type Row } from "./connection.ts"
import type { IndexRows } from "./index-rows.ts"
import { textArray } from "./text-array.ts"

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
  const form = formOf(writes)
  const rows = await query(statement(schema, form), values(form, writes))
  const byKey = new Map(rows.map((row) => [Number(row["key"]), row]))
  const behind = writes.filter(({ key, after }) => {
    const row = byKey.get(key)
    return row?.["ok"] === false && Number(row["seq"]) > after
  })
  const ours = await storedBefore(query, schema, behind)
  return writes.map((write) => outcomeOf(write, byKey.get(write.key), ours.has(write.key)))
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

const outcomeOf = (write: Write, row: Row | undefined, isOurs: boolean): Outcome => {
  if (row?.["ok"] === true || isOurs) return { kind: "stored" }
  if (row === undefined)
    return write.fence === undefined ? { kind: "moved", seq: undefined } : { kind: "fenced" }
  if (write.fence !== undefined && row["fence"] !== write.fence) return { kind: "fenced" }
  if (row["seq"] !== write.after) return { kind: "moved", seq: Number(row["seq"]) }
  const taken = new Set(typeof row["taken"] === "string" ? parseList(row["taken"]) : [])
  const claim = write.rows.names.find(({ kind, id, claimed }) => claimed && taken.has(`${kind} ${id}`))
  if (claim === undefined) return { kind: "moved", seq: write.after }
  return { kind: "taken", claim: { kind: claim.kind, id: claim.id } }
}

/** Refused writes that an earlier attempt stored: the log contains their mark. */
const storedBefore = async (
  query: Query,
  schema: string,
  refused: readonly Write[],
): Promise<ReadonlySet<number>> => {
  if (refused.length === 0) return new Set()
  const rows = await query(
    `select e.session as key from ${schema}.event e
     join unnest($1::bigint[], $2::bigint[], $3::text[]) as w(key, after, mark)
       on e.session = w.key and e.seq = w.after + 1 and e.mark = w.mark`,
    [refused.map(({ key }) => key), refused.map(({ after }) => after), refused.map(({ mark }) => mark)],
  )
  return new Set(rows.map((row) => Number(row["key"])))
}

type RowKind = Exclude<keyof IndexRows, "interruptSeq">

/**
 * The kinds of rows that each form of the statement writes. Most appends have none or the usual ones, and do not pay for
 * the others.
 */
const TAKEN_BY = {
  plain: [],
  usual: ["names", "inputs", "doneInputs", "settled"],
  full: ["names", "inputs", "doneInputs", "settled", "requests", "replies", "approvals", "revoked"],
} as const satisfies Record<string, readonly RowKind[]>

type Form = keyof typeof TAKEN_BY

const formOf = (writes: readonly Write[]): Form => {
  const brings = (kind: RowKind): boolean => writes.some(({ rows }) => rows[kind].length > 0)
  if (TAKEN_BY.full.every((kind) => !brings(kind))) return "plain"
  const usual: readonly RowKind[] = TAKEN_BY.usual
  return TAKEN_BY.full.every((kind) => usual.includes(kind) || !brings(kind)) ? "usual" : "full"
}

const values = (form: Form, writes: readonly Write[]): readonly unknown[] => {
  const events = writes.flatMap((write) => write.events)
  /** Where the events of each write end among all events. */
  let end = 0
  const ends = writes.map((write) => (end += write.events.length))
  /** Rows of one kind as a set of records, each with its session's key. */
  const records = (kind: RowKind): string =>
    JSON.stringify(writes.flatMap(({ key, rows }) => rows[kind].map((row) => Object.assign({ key }, row))))
  return [
    writes.map(({ key }) => key),
    writes.map(({ fence }) => fence ?? ANYONE),
    writes.map(({ after }) => after),
    writes.map((write, index) => (ends[index] ?? 0) - write.events.length + 1),
    ends,
    textArray(writes.map(({ mark }) => mark)),
    writes.map(({ rows }) => rows.interruptSeq),
    textArray(writes.map(({ summary }) => summary)),
    writes.map(({ parkedUntil }) => parkedUntil ?? null),
    textArray(writes.map(({ workspace }) => workspace)),
    textArray(events.map(({ type }) => type)),
    events.map(({ time }) => time),
    textArray(events.map(({ data }) => data)),
    ...TAKEN_BY[form].map(records),
  ]
}

const ANYONE = -1

/**
 * Its cost grows linearly with the number of writes: the events of a write are a slice of all events, and rows find their
 * write in one array of keys. A join would compare every row with every write.
 */
const statement = (schema: string, form: Form): string => {
  const hasNames = form !== "plain"
  return `
with asked as (
  select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[], $5::int[], $6::text[], $7::bigint[],
      $8::text[], $9::bigint[], $10::text[])
    as a(key, number, after, first, last, mark, interrupt, summary, parked, workspace)),
locked as (
  select a.*, s.seq, s.fence from asked a join ${schema}.session s on s.key = a.key order by a.key for update of s),
${hasNames ? NAMES(schema) : ""}
head as (
  update ${schema}.session s
  set seq = l.after + l.last - l.first + 1, interrupt_seq = greatest(s.interrupt_seq, l.interrupt), summary = l.summary,
    parked_until = l.parked, workspace = l.workspace
  from locked l
  where s.key = l.key and l.seq = l.after and (l.number = ${ANYONE} or l.fence = l.number)
    ${hasNames ? "and not exists (select 1 from taken t where t.key = l.key)" : ""}
  returning s.key, l.after, l.first, l.last, nullif(l.number, ${ANYONE}) as fence, l.mark),
stored as (
  insert into ${schema}.event (session, seq, type, time, fence, mark, data)
  select h.key, h.after + e.place, e.type, e.time, h.fence, h.mark, e.data
  from head h, unnest(
      ($11::text[])[h.first : h.last], ($12::bigint[])[h.first : h.last], ($13::text[])[h.first : h.last])
    with ordinality as e(type, time, data, place))
${form === "plain" ? "" : USUAL(schema)}
${form === "full" ? RARE(schema) : ""}
select l.key, l.seq, l.fence, l.key = ${STORED} as ok
  ${hasNames ? ", (select json_agg(t.name)::text from taken t where t.key = l.key) as taken" : ""}
from locked l`
}

const STORED = "any(array(select key from head))"

const NAMES = (schema: string): string => `
named as (
  select * from jsonb_to_recordset($14::jsonb) as n(key bigint, kind text, id text, seq bigint, claimed boolean)),
taken as (
  select n.key, n.kind || ' ' || n.id as name from named n
  join ${schema}.name t on t.kind = n.kind and t.id = n.id where n.claimed),`

const USUAL = (schema: string): string => `,
claimed as (
  insert into ${schema}.name (kind, id, session, seq)
  select n.kind, n.id, n.key, n.seq from named n where n.claimed and n.key = ${STORED}),
given as (
  insert into ${schema}.name (kind, id, session, seq)
  select n.kind, n.id, n.key, n.seq from named n where not n.claimed and n.key = ${STORED}
  on conflict do nothing),
came as (
  insert into ${schema}.input (session, id, seq, resume, admitted)
  select i.key, i.id, i.seq, i.resume, i.time
  from jsonb_to_recordset($15::jsonb) as i(key bigint, id text, seq bigint, resume boolean, time bigint)
  where i.key = ${STORED}),
went as (
  delete from ${schema}.input i using jsonb_to_recordset($16::jsonb) as d(key bigint, id text)
  where d.key = ${STORED} and i.session = d.key and i.id = d.id),
settled as (
  delete from ${schema}.request r using jsonb_to_recordset($17::jsonb) as d(key bigint, message text, call text)
  where d.key = ${STORED} and r.session = d.key and r.message = d.message and r.call = d.call)`

const RARE = (schema: string): string => `,
opened as (
  insert into ${schema}.request (session, id, seq, message, call, replied)
  select r.key, r.id, r.seq, r.message, r.call, r.replied
  from jsonb_to_recordset($18::jsonb)
    as r(key bigint, id text, seq bigint, message text, call text, replied bigint)
  where r.key = ${STORED}),
replied as (
  update ${schema}.request r set replied = d.seq
  from jsonb_to_recordset($19::jsonb) as d(key bigint, id text, seq bigint)
  where d.key = ${STORED} and r.session = d.key and r.id = d.id),
approved as (
  insert into ${schema}.approval (project, action, resource, session, seq, time)
  select p.project, p.action, p.resource, p.key, p.seq, p.time
  from jsonb_to_recordset($20::jsonb)
    as p(key bigint, project text, action text, resource text, seq bigint, time bigint)
  where p.key = ${STORED}
  on conflict do nothing),
revoked as (
  delete from ${schema}.approval p
  using jsonb_to_recordset($21::jsonb) as d(key bigint, project text, action text, resource text)
  where d.key = ${STORED} and p.session = d.key
    and p.project = d.project and p.action = d.action and p.resource = d.resource)`
