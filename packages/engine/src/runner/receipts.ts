import { Failure, type CompactionReceipt, type StoredEvent, type UnknownEvent } from "@meridian/protocol"
/** Compactions as people see them: asked for, waited for, looked at. */
import { Effect } from "effect"

import { readRestoration } from "../domain/transcript/compactions.ts"
import { attemptNow } from "./attempt.ts"
import type { Runtime } from "./drain.ts"
import type { Drains } from "./drains.ts"

/** Requests made before the boundary become one compaction. */
export const requestCompaction = (
  runtime: Runtime,
  drains: Drains,
  sessionID: string,
): Effect.Effect<CompactionReceipt | undefined, Failure> =>
  Effect.gen(function* () {
    const { store, histories } = runtime
    const { key, after } = yield* attemptNow(() =>
      store.log.write({ sessionID, durability: "FULL" }, ({ session, append }) => {
        const { transcript } = histories.current(session)
        if (!transcript.compactions.requested)
          append([{ type: "session.next.compaction.requested.1", data: {} }])
        return { key: session.key, after: session.seq }
      }),
    )
    drains.wake(sessionID)
    yield* untilCompacted(runtime, drains, sessionID, key)
    const receipts = yield* attemptNow(() => receiptsOf(store.reader.compactions(key)))
    const last = receipts.at(-1)
    return last !== undefined && last.seq > after && last.status === "ended" ? last : undefined
  })

const untilCompacted = (
  runtime: Runtime,
  drains: Drains,
  sessionID: string,
  key: number,
): Effect.Effect<void, Failure> =>
  Effect.callback<void, Failure>((resume) => {
    const look = () => {
      const { transcript } = runtime.histories.current({ id: sessionID, key })
      if (transcript.compactions.requested || transcript.compactions.open !== undefined) return
      unwatch()
      resume(Effect.void)
    }
    const unwatch = runtime.signals.watch(sessionID, look)
    look()
    return Effect.sync(unwatch)
  }).pipe(Effect.raceFirst(drains.awaitIdle(sessionID)))

export const receiptsOf = (events: readonly (StoredEvent | UnknownEvent)[]): readonly CompactionReceipt[] => {
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
      // A request that found nothing to compact never started one.
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

/** A checkpoint can be gone back to when it was completed. */
export const checkCheckpoint = (
  receipts: readonly CompactionReceipt[],
  compactionID: string | undefined,
): void => {
  if (compactionID === undefined) return
  if (!receipts.some((receipt) => receipt.id === compactionID && receipt.status === "ended"))
    throw new Failure("CHECKPOINT_NOT_FOUND", { checkpoint: compactionID })
}
