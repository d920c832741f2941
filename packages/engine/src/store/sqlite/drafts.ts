/**
 * Sessions that are written before they exist: a fork or an import of any length, in bounded transactions, of which
 * nobody sees anything until the last one publishes it.
 *
 *   - A draft has a key of its own, reserved by a lease. Its events from sequence 2 on and their projections are stored
 *     under that key; what it lacks is its first event and its row in `session`. Every reader comes through that row.
 *   - The row is derived beside it, by the same projector on a database in memory, and inserted together with the first
 *     event when the draft is published.
 *   - A draft whose process died is cleared away by the next one who looks; nobody can have seen it.
 */
import { DatabaseSync } from "node:sqlite"

import { Failure, type StoredEvent } from "@meridian/protocol"

import type { DatedEvent } from "../../domain/fork.ts"
import type { Creation } from "../../port/store.ts"
import type { Database } from "./database.ts"
import type { KeyFence, LeaseTable } from "./leases.ts"
import { createProjector, type Projector } from "./projector.ts"
import { MIGRATIONS, NEXT_KEY, positionOf, STRIDE } from "./schema.ts"

/** The caller discards it in the end, published or not. */
export interface KeyDraft {
  readonly key: number
  readonly append: (events: readonly DatedEvent[]) => void
  readonly publish: () => "published" | "taken"
  readonly discard: () => void
}

export interface Drafts {
  readonly open: (creation: Creation) => KeyDraft
  /** Clears away what lost processes left. */
  readonly sweep: () => void
  /** Clears away what is not published by now. */
  readonly close: () => void
}

export const createDrafts = (options: {
  readonly database: Database
  readonly projector: Projector
  readonly leases: LeaseTable
}): Drafts => {
  const { database, projector, leases } = options
  const { raw } = database
  /** Drafts of this process, by their key. */
  const ours = new Map<number, KeyDraft>()
  const insertEvent = raw.prepare("insert into event (id, type, time, data) values (?, ?, ?, ?)")
  const giveBack = raw.prepare("update lease set owner = null where session = ? and fence = ?")
  const nextKey = raw.prepare(NEXT_KEY)
  const selectByKey = raw.prepare("select 1 from session where key = ?")
  const selectById = raw.prepare("select 1 from session where id = ?")
  const selectReserved = raw.prepare(
    "select session from lease where owner is not null and not exists (select 1 from session where key = lease.session)",
  )

  const store = (key: number, seq: number, { time, ...event }: DatedEvent): StoredEvent => {
    insertEvent.run(positionOf(key, seq), event.type, time, JSON.stringify(event.data))
    return { ...event, seq, time }
  }

  const clear = (fence: KeyFence): void => {
    for (const { table, column } of POSITIONED) {
      const remove = raw.prepare(
        `delete from ${table} where ${column} in (
           select ${column} from ${table} where ${column} between ? and ? limit ${ROWS_CLEARED_AT_ONCE})`,
      )
      const some = () =>
        database.transact(() =>
          Number(remove.run(positionOf(fence.key, 0), positionOf(fence.key, STRIDE - 1)).changes),
        )
      while (some() === ROWS_CLEARED_AT_ONCE);
    }
    leases.release(fence)
  }

  /** Whoever takes the lease has the key. Another may be faster: then there is a next one. */
  const reserve = (): KeyFence => {
    for (;;) {
      const key = Number(nextKey.get()?.["key"])
      const acquired = leases.acquire(key)
      if (acquired.kind === "held") continue
      if (selectByKey.get(key) !== undefined) leases.release(acquired.fence)
      else if (acquired.abandoned) clear(acquired.fence)
      else return acquired.fence
    }
  }

  const open: Drafts["open"] = (creation) => {
    sweep()
    const fence = reserve()
    const { key } = fence
    const { sessionID } = creation.data
    const aside = deriveRow(key, creation)
    let seq = 1
    let updated = creation.time

    const checkFence = (): void => {
      if (!ours.has(key)) throw new Failure("ENGINE_CLOSED")
      if (!leases.isCurrent(fence)) throw new Failure("FENCED", { session: sessionID })
    }

    const draft: KeyDraft = {
      key,
      append: (events) => {
        database.transact(() => {
          checkFence()
          for (const event of events) {
            const stored = store(key, seq + 1, event)
            projector.project(key, stored)
            aside.project(stored)
            seq += 1
            updated = event.time
          }
        })
      },
      publish: () => {
        const published = database.transact(() => {
          checkFence()
          if (selectById.get(sessionID) !== undefined) return "taken"
          store(key, 1, creation)
          const row = { ...aside.row(), seq, updated }
          const columns = Object.keys(row)
          raw
            .prepare(
              `insert into session (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
            )
            .run(...Object.values(row))
          // With the same commit: nobody shall take the new session for one whose owner was lost at work.
          giveBack.run(key, fence.number)
          return "published"
        })
        if (published === "published") {
          ours.delete(key)
          aside.close()
          leases.release(fence)
        }
        return published
      },
      discard: () => {
        if (!ours.delete(key)) return
        aside.close()
        clear(fence)
      },
    }
    ours.set(key, draft)
    return draft
  }

  const sweep: Drafts["sweep"] = () => {
    for (const row of selectReserved.all()) {
      const key = Number(row["session"])
      if (ours.has(key)) continue
      const acquired = leases.acquire(key)
      if (acquired.kind === "acquired") clear(acquired.fence)
    }
  }

  return {
    open,
    sweep,
    close: () => {
      for (const draft of ours.values()) draft.discard()
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
  "session.next.synthetic.1",
  "session.next.text.ended.1",
  "session.next.reasoning.ended.1",
  "session.next.tool.called.1",
  "session.next.tool.success.1",
  "session.next.permission.asked.1",
  "session.next.permission.replied.1",
  "session.next.context.updated.1",
])
