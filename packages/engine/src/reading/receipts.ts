/** Compactions as people see them: request, wait, list, restore. */
import { Failure, type CompactionReceipt } from "@meridian/protocol"
import { Effect } from "effect"

import type { LoggedEvent } from "../domain/logged-event.ts"
import { readRestoration } from "../domain/transcript/compactions.ts"
import { Store } from "../port/store.ts"
import { FoldedSessions, Signals } from "../session/index.ts"

export const readReceipts = (session: string): Effect.Effect<readonly CompactionReceipt[], Failure, Store> =>
  Effect.map(
    Store.use(({ compactions }) => compactions(session)),
    receiptsOf,
  )

/** Requests a compaction. Requests made before the next boundary become one. Answers with the sequence of the log. */
export const requestCompaction = (session: string): Effect.Effect<number, Failure, FoldedSessions> =>
  FoldedSessions.use(({ write }) =>
    write({ session, durability: "acknowledged" }, ({ compactions, seq }) => ({
      kind: "append",
      events: compactions.requested ? [] : [{ type: "session.next.compaction.requested.1", data: {} }],
      answer: () => seq,
    })),
  )

/** Completes when no compaction is requested or under way. */
export const untilCompacted = (session: string): Effect.Effect<void, Failure, FoldedSessions | Signals> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { current } = yield* FoldedSessions
      const watch = yield* (yield* Signals).watch(session)
      for (;;) {
        const { compactions } = (yield* current(session)).transcript
        if (!compactions.requested && compactions.open === undefined) return
        yield* watch.changed
      }
    }),
  )

/** Returns to an older checkpoint, or without an id to the whole history. */
export const restoreCheckpoint = (
  session: string,
  compactionID: string | undefined,
): Effect.Effect<void, Failure, Store | FoldedSessions> =>
  Effect.gen(function* () {
    const { write } = yield* FoldedSessions
    if (compactionID !== undefined) {
      const receipts = yield* readReceipts(session)
      if (!receipts.some(({ id, status }) => id === compactionID && status === "ended"))
        return yield* Effect.fail(new Failure("CHECKPOINT_NOT_FOUND", { checkpoint: compactionID }))
    }
    const data = compactionID === undefined ? {} : { compactionID }
    yield* write({ session, durability: "acknowledged" }, () => ({
      kind: "append",
      events: [{ type: "session.next.compaction.restored.1", data }],
      answer: () => undefined,
    }))
  })

const receiptsOf = (events: readonly LoggedEvent[]): readonly CompactionReceipt[] => {
  const receipts = new Map<string, CompactionReceipt>()
  const { ignored } = readRestoration(events)
  for (const event of events) {
    const { seq, time } = event
    if (event.type === "session.next.compaction.started.1") {
      const { compactionID: id, reason } = event.data
      receipts.set(id, { id, reason, status: "started", seq, time, inForce: false })
    }
    if (event.type === "session.next.compaction.failed.1") {
      const { compactionID: id, error } = event.data
      const started = receipts.get(id)
      // A request that found nothing to compact has no start.
      if (started !== undefined)
        receipts.set(id, { id, reason: started.reason, status: "failed", seq, time, inForce: false, error })
    }
    if (event.type === "session.next.compaction.ended.2") {
      const { compactionID: id, recent: _recent, ...told } = event.data
      receipts.set(id, { id, ...told, status: "ended", seq, time, inForce: false })
    }
  }
  const inForce = [...receipts.values()].findLast(
    (receipt) => receipt.status === "ended" && !ignored.has(receipt.id),
  )
  if (inForce !== undefined) receipts.set(inForce.id, { ...inForce, inForce: true })
  return [...receipts.values()]
}
