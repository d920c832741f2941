/**
 * Deletes one session with everything derived from it, in one transaction. Its key is never reused and its fence moves on,
 * so a process that still believes it works there cannot write.
 */
import type { DatabaseSync } from "node:sqlite"

import type { Removed, HeldAt } from "../../port/store.ts"
import type { Database } from "./database.ts"
import type { EventReader } from "./events.ts"
import type { LeaseTable } from "./leases.ts"
import { positionOf, STRIDE } from "./schema.ts"

/** Table -> the column with the log position of a row. */
const ROWS = {
  event: "id",
  part: "position",
  message: "position",
  input: "admitted",
  request: "asked",
  approval: "position",
} as const

/** Deletes the rows of a session by its key. The caller holds the transaction. */
export const createRowRemoval = (raw: DatabaseSync): ((key: number) => void) => {
  const rows = Object.entries(ROWS).map(([table, column]) =>
    raw.prepare(`delete from ${table} where ${column} >= ? and ${column} < ?`),
  )
  const session = raw.prepare("delete from session where key = ?")
  return (key) => {
    for (const statement of rows) statement.run(positionOf(key, 0), (key + 1) * STRIDE)
    session.run(key)
  }
}

export const createRemoval = (options: {
  readonly database: Database
  readonly log: EventReader
  readonly leases: LeaseTable
}): ((session: string, heldAt?: HeldAt) => Removed) => {
  const { database, log, leases } = options
  const removeRows = createRowRemoval(database.raw)
  const selectSeq = database.raw.prepare("select seq from session where key = ?")

  const removeHeld = (key: number, { number, seq }: { readonly number: number; readonly seq: number }) =>
    database.transact((): Removed => {
      if (!leases.isCurrent({ key, number })) return "held"
      if (selectSeq.get(key)?.["seq"] !== seq) return "moved"
      removeRows(key)
      return "removed"
    })

  return (id, heldAt) => {
    const key = log.keyOf(id)
    if (key === undefined) return "missing"
    if (heldAt !== undefined) {
      const removed = removeHeld(key, { number: heldAt.fence.number, seq: heldAt.seq })
      if (removed === "removed") log.forget(id)
      return removed
    }
    // Taking the lease moves the fence. Its row stays and reserves the key.
    const acquired = leases.acquire(key)
    if (acquired.kind === "held") return "held"
    database.transact(() => removeRows(key))
    leases.release(acquired.fence)
    log.forget(id)
    return "removed"
  }
}
