/**
 * Compare and append, as the port defines it: prepared from this node's rows where possible, and always decided by the
 * server.
 */
import type { DurableEvent } from "@meridian/protocol"

import type { Append, Appended, Removed, HeldAt } from "../../port/store.ts"
import type { Write } from "./append-statement.ts"
import { sendWrites, type Outcome } from "./append.ts"
import { isUniqueViolation, type Connection, type Query } from "./connection.ts"
import type { GroupQueue } from "./group-queue.ts"
import type { Mirror } from "./mirror.ts"
import { prepareWrite, type PreparedWrite } from "./prepare-write.ts"
import type { SessionReader } from "./reader.ts"
import { NO_SUMMARY, summaryText } from "./summary.ts"

export type Answer = Exclude<Appended, { readonly kind: "committed" }> | { readonly kind: "stored" }

export interface Writer {
  readonly append: (append: Append) => Promise<Answer>
  /** Only while the session is at this place. */
  readonly remove: (key: number, heldAt: HeldAt) => Promise<Exclude<Removed, "missing">>
  /** Deletes whatever is left of a session that nobody sees. */
  readonly erase: (key: number) => Promise<void>
}

export const createWriter = (options: {
  readonly schema: string
  readonly connection: Connection
  readonly queue: GroupQueue<Write, Outcome>
  readonly mirror: Mirror
  readonly reader: SessionReader
  readonly newMark: () => string
  readonly onStored: (session: string) => void
}): Writer => {
  const { schema, connection, queue, mirror, reader, newMark, onStored } = options

  /** Without events: only checks whether one could be appended there. */
  const prove = async ({ session, fence, after }: Append): Promise<Answer> => {
    const [row] = await connection.ask(
      `select seq, fence from ${schema}.session where id = $1 and published`,
      [session],
    )
    if (fence !== undefined && row?.["fence"] !== fence.number) return { kind: "fenced" }
    return row !== undefined && row["seq"] === after ? { kind: "stored" } : { kind: "moved" }
  }

  const add = (session: string, { write: { key, events }, summary }: PreparedWrite): Answer => {
    mirror.add(session, key, events, summary)
    onStored(session)
    return { kind: "stored" }
  }

  const follow = async (append: Append): Promise<Answer> => {
    const { session, fence, after } = append
    if (mirror.known(session)?.seq !== after) await reader.refresh(session)
    const known = mirror.known(session)
    // The summary belongs to this sequence. At another one there is nothing to append.
    if (known?.seq !== after) {
      const proved = await prove(append)
      return proved.kind === "stored" ? { kind: "moved" } : proved
    }
    const prepared = prepareWrite({
      key: known.key,
      fence: fence?.number,
      after,
      summary: known.summary,
      mark: newMark(),
      events: dated(append),
    })
    const outcome = await queue.join(prepared.write)
    return outcome.kind === "stored" ? add(session, prepared) : refusal(outcome)
  }

  /** The first append creates the session's row, in the same transaction. */
  const create = async (append: Append): Promise<Answer> => {
    const mark = newMark()
    for (let tries = 0; ; tries += 1)
      try {
        const { prepared, outcome } = await connection.transact<Made>(async (query) => {
          const [row] = await query(
            `insert into ${schema}.session (id, published, seq, summary) values ($1, true, 0, $2)
             on conflict (id) do nothing returning key`,
            [append.session, summaryText(NO_SUMMARY)],
          )
          // The id is in use, possibly by us: the answer to our first attempt may have got lost.
          const key = row === undefined ? await ownKey(query, append.session, mark) : Number(row["key"])
          if (key === undefined) return { keep: false, answer: { outcome: MOVED, prepared: undefined } }
          const made = prepareWrite({ key, after: 0, summary: NO_SUMMARY, mark, events: dated(append) })
          if (row === undefined) return { keep: false, answer: { outcome: STORED, prepared: made } }
          const [answer = MOVED] = await sendWrites(query, schema, [made.write])
          return { keep: answer.kind === "stored", answer: { outcome: answer, prepared: made } }
        })
        return outcome.kind === "stored" && prepared !== undefined
          ? add(append.session, prepared)
          : refusal(outcome)
      } catch (cause) {
        // Another process is taking a name right now. The next attempt sees it.
        if (!isUniqueViolation(cause) || tries === MOST_TRIES) throw cause
      }
  }

  const ownKey = async (
    query: Connection["ask"],
    session: string,
    mark: string,
  ): Promise<number | undefined> => {
    const [row] = await query(
      `select s.key from ${schema}.session s join ${schema}.event e on e.session = s.key and e.seq = 1
       where s.id = $1 and e.mark = $2`,
      [session, mark],
    )
    return row === undefined ? undefined : Number(row["key"])
  }

  const removeRows = async (query: Query, key: number): Promise<void> => {
    for (const table of TABLES) await query(`delete from ${schema}.${table} where session = $1`, [key])
    await query(`delete from ${schema}.session where key = $1`, [key])
  }

  return {
    append: (append) => {
      if (append.events.length === 0) return prove(append)
      const makes = append.after === 0 && append.fence === undefined && makesSession(append.events)
      return makes ? create(append) : follow(append)
    },
    remove: async (key, { fence, seq }) => {
      const removed = await connection.transact(async (query) => {
        const [row] = await query(
          `select seq, fence, published from ${schema}.session where key = $1 for update`,
          [key],
        )
        if (row !== undefined && row["fence"] !== fence.number)
          return { keep: false, answer: "held" as const }
        if (row !== undefined && row["seq"] !== seq) return { keep: false, answer: "moved" as const }
        await removeRows(query, key)
        return { keep: true, answer: "removed" as const }
      })
      return removed
    },
    erase: (key) =>
      connection.transact(async (query) => {
        await removeRows(query, key)
        return { keep: true, answer: undefined }
      }),
  }
}

interface Made {
  readonly outcome: Outcome
  readonly prepared: PreparedWrite | undefined
}

/** Tables with rows of one session. */
const TABLES = ["event", "name", "input", "request", "approval"] as const

const MOST_TRIES = 5
const MOVED: Outcome = { kind: "moved", seq: undefined }
const STORED: Outcome = { kind: "stored" }

const refusal = (outcome: Outcome): Answer => (outcome.kind === "moved" ? { kind: "moved" } : outcome)

const dated = ({ events, time }: Append) => events.map((event) => ({ ...event, time }))

const makesSession = (events: readonly DurableEvent[]): boolean =>
  events[0]?.type === "session.next.created.1"
