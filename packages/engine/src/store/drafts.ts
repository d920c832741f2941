/**
 * Sessions that are written before they exist: a fork or an import of any length, in bounded transactions, of which
 * nobody sees anything until the last one publishes it.
 *
 *   - A draft has a key of its own, reserved by a lease. Its events from sequence 2 on and their projections are stored
 *     under that key; what it lacks is its first event and its row in `session`. Every reader comes through that row.
 *   - The row is derived beside it, by the same projector on a database in memory, and inserted together with the first
 *     event when the draft is published: one FULL transaction, which makes all the earlier ones safe too.
 *   - A draft whose process died is cleared away by the next one who looks; nobody can have seen it.
 */
import { DatabaseSync } from "node:sqlite"

import { Failure, type StoredEvent } from "@meridian/protocol"

import type { DatedEvent } from "../domain/fork.ts"
import type { Database } from "./database.ts"
import type { Leases } from "./leases.ts"
import type { Fence, Log, SessionRow } from "./log.ts"
import { createProjector } from "./projector.ts"
import { MIGRATIONS, NEXT_KEY, positionOf, STRIDE } from "./schema.ts"

export type Creation = Extract<DatedEvent, { readonly type: "session.next.created.1" }>

export interface Draft {
  /** Of no other draft or session in this database: what its ids are made from. */
  readonly key: number
  /** One transaction; when it fails the draft is good for nothing but `discard`. Creation was given to `open`. */
  readonly append: (events: readonly DatedEvent[]) => void
  /** Makes it a session. When its id was taken meanwhile, that session is returned and the draft is cleared away. */
  readonly publish: () => { readonly row: SessionRow; readonly created: boolean }
  /** Clears it away; nothing happens once it is published. */
  readonly discard: () => void
}

export interface Drafts {
  readonly open: (creation: Creation) => Draft
  /** Clears away what lost processes left. */
  readonly sweep: () => void
  readonly close: () => void
}

export const createDrafts = (options: {
  readonly database: Database
  readonly log: Log
  readonly leases: Leases
}): Drafts => {
  const { database, log, leases } = options
  const { raw } = database
  const open = new Map<Draft, Fence>()
  const insertEvent = raw.prepare("insert into event (id, type, time, data) values (?, ?, ?, ?)")
  const selectFence = raw.prepare("select fence from lease where session = ?")
  const giveBack = raw.prepare("update lease set owner = null where session = ? and fence = ?")
  const nextKey = raw.prepare(NEXT_KEY)
  const selectSession = raw.prepare("select 1 from session where key = ?")
  const selectReserved = raw.prepare(
    "select session from lease where owner is not null and not exists (select 1 from session where key = lease.session)",
  )

  const store = (key: number, seq: number, { time, ...event }: DatedEvent): StoredEvent => {
    insertEvent.run(positionOf(key, seq), event.type, time, JSON.stringify(event.data))
    return { ...event, seq, time }
  }

  const clear = (fence: Fence): void => {
    for (const { table, column } of POSITIONED) {
      const remove = raw.prepare(
        `delete from ${table} where ${column} in (
           select ${column} from ${table} where ${column} between ? and ? limit ${ROWS_CLEARED_AT_ONCE})`,
      )
      const some = () =>
        database.transact("NORMAL", () =>
          Number(remove.run(positionOf(fence.key, 0), positionOf(fence.key, STRIDE - 1)).changes),
        )
      while (some() === ROWS_CLEARED_AT_ONCE);
    }
    leases.release(fence)
  }

  /** Whoever takes the lease has the key. Another may be faster: then there is a next one. */
  const reserve = (): Fence => {
    for (;;) {
      const key = Number(nextKey.get()?.["key"])
      const acquired = leases.acquire(key)
      if (acquired.kind === "held") continue
      if (selectSession.get(key) !== undefined) leases.release(acquired.fence)
      else if (acquired.abandoned) clear(acquired.fence)
      else return acquired.fence
    }
  }

  const openDraft: Drafts["open"] = (creation) => {
    sweep()
    const fence = reserve()
    const aside = deriveRow(fence.key, creation)
    let seq = 1
    let updated = creation.time

    const checkOpen = (): void => {
      if (!open.has(draft)) throw new Failure("ENGINE_CLOSED")
    }
    const checkFence = (): void => {
      if (Number(selectFence.get(fence.key)?.["fence"]) !== fence.number)
        throw new Failure("FENCED", { session: creation.data.sessionID })
    }

    const end = (): boolean => {
      const wasOpen = open.delete(draft)
      if (wasOpen) aside.close()
      return wasOpen
    }

    const draft: Draft = {
      key: fence.key,
      append: (events) => {
        checkOpen()
        database.transact("NORMAL", () => {
          checkFence()
          for (const event of events) {
            const stored = store(fence.key, seq + 1, event)
            log.projector.project(fence.key, stored)
            aside.project(stored)
            seq += 1
            updated = event.time
          }
        })
      },
      publish: () => {
        checkOpen()
        const result = database.transact("FULL", () => {
          checkFence()
          const existing = log.find(creation.data.sessionID)
          if (existing !== undefined) return { row: existing, created: false }
          store(fence.key, 1, creation)
          const row = { ...aside.row(), seq, updated }
          const columns = Object.keys(row)
          raw
            .prepare(
              `insert into session (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
            )
            .run(...Object.values(row))
          // With the same commit: nobody shall take the new session for one whose owner was lost at work.
          giveBack.run(fence.key, fence.number)
          return { row: log.get(creation.data.sessionID), created: true }
        })
        if (!result.created) {
          draft.discard()
          return result
        }
        end()
        leases.release(fence)
        log.announce(creation.data.sessionID, [{ ...creation, seq: 1 }])
        return result
      },
      discard: () => {
        if (end()) clear(fence)
      },
    }
    open.set(draft, fence)
    return draft
  }

  const sweep: Drafts["sweep"] = () => {
    const ours = new Set([...open.values()].map(({ key }) => key))
    for (const row of selectReserved.all()) {
      const key = Number(row["session"])
      if (ours.has(key)) continue
      const acquired = leases.acquire(key)
      if (acquired.kind === "acquired") clear(acquired.fence)
    }
  }

  return {
    open: openDraft,
    sweep,
    close: () => {
      for (const draft of open.keys()) draft.discard()
    },
  }
}

const ROWS_CLEARED_AT_ONCE = 2_000

/** Every table with rows of one session, by the column that holds their position. */
const POSITIONED = [
  { table: "part", column: "position" },
  { table: "message", column: "position" },
  { table: "input", column: "admitted" },
  { table: "request", column: "asked" },
  { table: "approval", column: "position" },
  { table: "event", column: "id" },
] as const

/** The row of the session as the projector derives it; rows of other tables are of no interest here. */
const deriveRow = (key: number, creation: Creation) => {
  const memory = new DatabaseSync(":memory:")
  for (const migration of MIGRATIONS) memory.exec(migration)
  const projector = createProjector(memory)
  projector.project(key, { ...creation, seq: 1 })
  const select = memory.prepare("select * from session where key = ?")
  return {
    project: (event: StoredEvent): void => {
      if (!LEAVE_NO_MARK.has(event.type)) projector.project(key, event)
    },
    row: () => ({ ...select.get(key) }),
    close: () => memory.close(),
  }
}

/** Most of a log is of these; none of them changes the row. A rebuild shows it: `test/behaviour/engine-fork.test.ts`. */
const LEAVE_NO_MARK: ReadonlySet<StoredEvent["type"]> = new Set<StoredEvent["type"]>([
  "session.next.prompt.admitted.1",
  "session.next.prompt.promoted.1",
  "session.next.prompt.cancelled.1",
  "session.next.prompted.1",
  "session.next.text.ended.1",
  "session.next.reasoning.ended.1",
  "session.next.tool.called.1",
  "session.next.tool.success.1",
  "session.next.permission.asked.1",
  "session.next.permission.replied.1",
  "session.next.context.updated.1",
])
