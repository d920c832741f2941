/**
 * Replays durable events in pages, says where the replay ended, then tails. The watch begins before the first page is
 * read, so no append can fall between replay and tail; it remembers one signal, because the log and not the signals carry
 * the events.
 */
import type { Failure, SyncedMarker } from "@meridian/protocol"
import { Clock, Effect, Option, Stream } from "effect"

import { LIMITS } from "../domain/limits.ts"
import type { LoggedEvent } from "../domain/logged-event.ts"
import { Store, type EventText } from "../port/store.ts"
import { Signals } from "../session/index.ts"

export interface TailRequest {
  readonly session: string
  readonly after: number
  /** Go on with what is appended later; without it the replay is all. */
  readonly follow: boolean
}

export const tailEvents = (
  request: TailRequest,
): Stream.Stream<LoggedEvent | SyncedMarker, Failure, Store | Signals> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { events } = yield* Store
      const clock = yield* Clock.Clock
      const { session } = request
      const limit = LIMITS.eventsPerPage
      return tailPages<LoggedEvent, LoggedEvent | SyncedMarker>(request, {
        read: (after) =>
          Effect.map(events({ session, after, limit }), (page) => ({ page, isFull: page.length === limit })),
        show: (page) => page,
        synced: (after) => ({ type: "synced", data: { after }, time: clock.currentTimeMillisUnsafe() }),
      })
    }),
  )

/** As JSON, a page at a time; an empty page says that the replay has ended. */
export const tailTexts = (
  request: TailRequest,
): Stream.Stream<readonly EventText[], Failure, Store | Signals> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { eventTexts } = yield* Store
      const { session } = request
      const limit = LIMITS.eventsPerPage
      return tailPages<EventText, readonly EventText[]>(request, {
        read: (after, phase) =>
          phase === "tail"
            ? Effect.map(eventTexts({ session, after, limit: FEW }), (page) => ({
                page,
                isFull: page.length === FEW,
              }))
            : Effect.map(eventTexts({ session, after, limit, bytes: PAGE_BYTES }), (page) => ({
                page,
                isFull: page.length === limit || mayBeCut(page),
              })),
        show: (page) => (page.length === 0 ? [] : [page]),
        synced: () => [],
      })
    }),
  )

/** What one reader holds stays small, however large the events are. */
const PAGE_BYTES = 256 * 1024

/** What was appended just now is a few events; looking at their size first would cost more than reading them. */
const FEW = 8

/** A character of a text is at most three bytes: shorter pages were not cut. To look once more for nothing does no harm. */
const mayBeCut = (page: readonly EventText[]): boolean =>
  page.reduce((sum, { text }) => sum + text.length, 0) >= PAGE_BYTES / 3

interface Tail<Event, Item> {
  readonly read: (
    after: number,
    phase: TailState["phase"],
  ) => Effect.Effect<{ readonly page: readonly Event[]; readonly isFull: boolean }, Failure>
  readonly show: (page: readonly Event[]) => readonly Item[]
  readonly synced: (after: number) => Item
}

interface TailState {
  readonly cursor: number
  readonly phase: "replay" | "tail"
}

const tailPages = <Event extends { readonly seq: number }, Item>(
  { session, after, follow }: TailRequest,
  { read, show, synced }: Tail<Event, Item>,
): Stream.Stream<Item, Failure, Signals> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const changed = follow ? (yield* (yield* Signals).watch(session)).changed : Effect.never
      const start: TailState = { cursor: after, phase: "replay" }
      return Stream.paginate(start, (state) =>
        Effect.gen(function* () {
          if (state.phase === "tail") yield* changed
          const { page, isFull } = yield* read(state.cursor, state.phase)
          const cursor = page.at(-1)?.seq ?? state.cursor
          if (isFull) return [show(page), Option.some({ cursor, phase: "replay" })] as const
          if (!follow) return [show(page), Option.none()] as const
          const items = state.phase === "replay" ? [...show(page), synced(cursor)] : show(page)
          return [items, Option.some({ cursor, phase: "tail" })] as const
        }),
      )
    }),
  )
