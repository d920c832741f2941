/**
 * Sessions that are written before they exist: a fork or an import of any length, in bounded transactions. Nobody sees any
 * of it until the last transaction publishes it.
 *
 *   - A draft has its own key, reserved by a lease. Its events from sequence 2 on and their projections are stored under
 *     that key. It lacks its first event and its row in `session`, and every reader starts at that row.
 *   - The same projector derives the row separately, on a database in memory. Publishing inserts it together with the
 *     first event.
 *   - The next process to look clears away a draft whose process died. Nobody can have seen it.
 */
import { DatabaseSync } from "node:sqlite"

import { Failure, type StoredEvent } from "@meridian/protocol"

import type { DatedEvent } from "../../domain/fork.ts"
import type { Creation } from "../../port/store.ts"
import type { Database } from "./database.ts"
import type { KeyFence, LeaseTable } from "./leases.ts"
import { createProjector, type Projector } from "./projector.ts"
import { MIGRATIONS, NEXT_KEY, positionOf, STRIDE } from "./schema.ts"

/** The caller closes it in the end, published or not. */
export interface KeyDraft {
  readonly key: number
  readonly append: (events: readonly DatedEvent[]) => void
  readonly publish: () => "published" | "taken"
  readonly discard: () => void
}

export interface Drafts {
  readonly open: (creation: Creation) => KeyDraft
  /** Clears away the drafts of lost processes. */
  readonly sweep: () => void
  /** Clears away drafts that are not published by now. */
  readonly close: () => void
}

export const createDrafts = (options: {
  readonly database: Database
  readonly projector: Projector
  readonly leases: LeaseTable
}): Drafts => {
  const { database, projector, leases } = options
  const { raw } = database
  /** Drafts of this process, by key. */
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

  /** The process that takes the lease has the key. If another is faster, there is a next key. */
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
          // In the same commit, so that no process takes the new session for one whose owner was lost at work.
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

/** Tables with rows of one session, each with the column that holds their position. */
const POSITIONED = [
  { table: "part", column: "position" },
  { table: "message", column: "position" },
  { table: "input", column: "admitted" },
  { table: "request", column: "asked" },
  { table: "approval", column: "position" },
  { table: "event", column: "id" },
] as const

/** The session's row as the projector derives it. Rows of other tables do not matter here. */
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

/**
 * Most events of a log are of these types, and none changes the row. `test/behaviour/engine-fork.test.ts` checks this with
 * a rebuild.
 */
const LEAVE_NO_MARK: ReadonlySet<StoredEvent["type"]> = new Set<StoredEvent["type"]>([
  "session.next.prompt.promoted.1",
  "session.next.prompt.cancelled.1",
  "session.next.synthetic.1",
  "session.next.text.ended.1",
  "session.next.reasoning.ended.1",
  "session.next.tool.called.1",
  "session.next.tool.success.1",
  "session.next.permission.asked.1",
  "session.next.permission.replied.1",
  "session.next.context.updated.1",
])
