/**
 * Replays durable events in pages, says where the replay ended, then tails. The dirty signal is registered before the
 * first page is read, so no commit can fall between replay and tail; it has capacity one, because the rows and not the
 * signals carry the events.
 */
import type { StoredEvent, SyncedMarker, UnknownEvent } from "@meridian/protocol"

import { LIMITS } from "../domain/limits.ts"
import type { World } from "../port/world.ts"
import type { EventText } from "../store/reader.ts"
import type { Store } from "../store/store.ts"
import { createDirtySignal } from "./dirty-signal.ts"
import type { Signals } from "./signals.ts"

export type TailItem = StoredEvent | UnknownEvent | SyncedMarker

interface TailOptions {
  readonly store: Store
  readonly signals: Signals
  readonly sessionID: string
  readonly key: number
  readonly after: number
  readonly follow: boolean
  readonly signal: AbortSignal
}

export async function* tailEvents(
  options: TailOptions & { readonly world: World },
): AsyncGenerator<TailItem, void, void> {
  const { store, key, world, signal } = options
  let cursor = options.after
  const read = (after: number) => {
    const page = store.reader.events(key, after, LIMITS.eventsPerPage)
    return { page, isFull: page.length === LIMITS.eventsPerPage }
  }
  for await (const page of tailPages(options, read)) {
    if (page.length === 0) yield { type: "synced", data: { after: cursor }, time: world.now() }
    for (const event of page) {
      cursor = event.seq
      yield event
      if (signal.aborted) return
    }
  }
}

/** As JSON, a page at a time; an empty page says that the replay has ended. */
export async function* tailTexts(options: TailOptions): AsyncGenerator<readonly EventText[], void, void> {
  const { store, key } = options
  // The first page is short, the next as long as such events allow: what one reader holds stays small.
  let limit = FIRST_PAGE
  const read = (after: number) => {
    const page = store.reader.eventTexts(key, after, limit)
    const isFull = page.length === limit
    const length = page.reduce((sum, { text }) => sum + text.length, 0)
    if (isFull)
      limit = Math.max(1, Math.min(LIMITS.eventsPerPage, Math.floor((limit * PAGE_LENGTH) / length)))
    return { page, isFull }
  }
  yield* tailPages(options, read)
}

const FIRST_PAGE = 32
const PAGE_LENGTH = 128 * 1024

async function* tailPages<Event extends { readonly seq: number }>(
  { signals, sessionID, follow, signal, after }: TailOptions,
  read: (after: number) => { readonly page: readonly Event[]; readonly isFull: boolean },
): AsyncGenerator<readonly Event[], void, void> {
  const dirty = createDirtySignal(signal)
  const unwatch = follow ? signals.watch(sessionID, dirty.mark) : () => undefined
  let cursor = after
  let replaying = true
  try {
    while (!signal.aborted) {
      const { page, isFull } = read(cursor)
      const last = page.at(-1)
      if (last !== undefined) {
        cursor = last.seq
        yield page
      }
      if (isFull) continue
      if (!follow) return
      if (replaying) {
        replaying = false
        yield []
      }
      await dirty.wait()
    }
  } finally {
    unwatch()
    dirty.close()
  }
}
