/**
 * Replays durable events in pages, says where the replay ended, then tails. The dirty signal is registered before the
 * first page is read, so no commit can fall between replay and tail; it has capacity one, because the rows and not the
 * signals carry the events.
 */
import type { StoredEvent, SyncedMarker, UnknownEvent } from "@meridian/protocol"

import { LIMITS } from "../domain/limits.ts"
import type { World } from "../port/world.ts"
import type { Store } from "../store/store.ts"
import type { Signals } from "./signals.ts"

export type TailItem = StoredEvent | UnknownEvent | SyncedMarker

export async function* tailEvents(options: {
  readonly store: Store
  readonly signals: Signals
  readonly world: World
  readonly sessionID: string
  readonly key: number
  readonly after: number
  readonly follow: boolean
  readonly signal: AbortSignal
}): AsyncGenerator<TailItem, void, void> {
  const { store, signals, world, sessionID, key, follow, signal } = options
  const dirty = createDirtySignal(signal)
  const unwatch = follow ? signals.watch(sessionID, dirty.mark) : () => undefined
  let cursor = options.after
  let replaying = true
  try {
    while (!signal.aborted) {
      const page = store.reader.events(key, cursor, LIMITS.eventsPerPage)
      for (const event of page) {
        cursor = event.seq
        yield event
        if (signal.aborted) return
      }
      if (page.length === LIMITS.eventsPerPage) continue
      if (!follow) return
      if (replaying) {
        replaying = false
        yield { type: "synced", data: { after: cursor }, time: world.now() }
      }
      await dirty.wait()
    }
  } finally {
    unwatch()
    dirty.close()
  }
}

/** A latch that remembers at most one mark. */
const createDirtySignal = (signal: AbortSignal) => {
  let marked = false
  let wakeUp: (() => void) | undefined
  const mark = (): void => {
    marked = true
    wakeUp?.()
  }
  signal.addEventListener("abort", mark)
  return {
    mark,
    wait: async (): Promise<void> => {
      if (!marked)
        await new Promise<void>((resolve) => {
          wakeUp = resolve
        })
      marked = false
      wakeUp = undefined
    },
    close: () => signal.removeEventListener("abort", mark),
  }
}
