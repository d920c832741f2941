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
import { appendMany, appendOne, type Write } from "./append-statement.ts"
import { isUniqueViolation, type Query, type Row } from "./connection.ts"

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
  const { sql, values } = appendMany(schema, writes)
  const rows = await query(sql, values)
  const byKey = new Map(rows.map((row) => [Number(row["key"]), row]))
  const behind = writes.filter(({ key, after }) => {
    const row = byKey.get(key)
    return row?.["ok"] === false && Number(row["seq"]) > after
  })
  const ours = await storedBefore(query, schema, behind)
  return writes.map((write) => outcomeOf(write, byKey.get(write.key), ours.has(write.key)))
}

/**
 * Like `sendWrites`, but a write that goes alone takes the shorter way first, and when another process takes a name at the
 * same moment, each write goes alone and sees who has the name.
 */
export const sendInAnyCase = async (
  query: Query,
  schema: string,
  writes: readonly Write[],
): Promise<readonly Outcome[]> => {
  try {
    return (await sendOne(query, schema, writes)) ?? (await sendWrites(query, schema, writes))
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause
    const outcomes: Outcome[] = []
    for (const write of writes) outcomes.push(await sendAlone(query, schema, write))
    return outcomes
  }
}

/** Undefined when there are several, or when the one was refused: the other statement says why. */
const sendOne = async (
  query: Query,
  schema: string,
  [write, ...others]: readonly Write[],
): Promise<readonly Outcome[] | undefined> => {
  if (write === undefined || others.length > 0) return undefined
  const { sql, values } = appendOne(schema, write)
  return (await query(sql, values)).length > 0 ? [{ kind: "stored" }] : undefined
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
