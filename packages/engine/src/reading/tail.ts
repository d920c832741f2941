/**
 * Replays durable events in pages, reports where the replay ended, then follows the log. The watch begins before the first
 * page is read, so no append can fall between the two. One remembered signal is enough, because the log carries the events.
 */
import type { Failure, SyncedMarker } from "@meridian/protocol"
import { Clock, Effect, Option, Stream } from "effect"

import { LIMITS } from "../domain/limits.ts"
import type { LoggedEvent } from "../domain/logged-event.ts"
import { Store, type EventFrames } from "../port/store.ts"
import { Signals } from "../session/index.ts"

export interface TailRequest {
  readonly session: string
  readonly after: number
  /** Follow later appends. Without it the replay is all. */
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
      return tailPages<LoggedEvent | SyncedMarker>(request, {
        read: (after) =>
          Effect.map(events({ session, after, limit }), (page) => ({
            items: page,
            cursor: page.at(-1)?.seq ?? after,
            more: page.length === limit,
          })),
        synced: (after) => [{ type: "synced", data: { after }, time: clock.currentTimeMillisUnsafe() }],
      })
    }),
  )

/** Tails as frames, one page at a time. */
export const tailFrames = (request: TailRequest): Stream.Stream<EventFrames, Failure, Store | Signals> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const store = yield* Store
      const { session } = request
      const read = (after: number, phase: TailState["phase"]) =>
        phase === "tail"
          ? store.eventFrames({ session, after, limit: FEW })
          : store.eventFrames({ session, after, ...PAGE })
      return tailPages<EventFrames>(request, {
        read: (after, phase) =>
          Effect.map(read(after, phase), (page) =>
            page === undefined
              ? { items: [], cursor: after, more: false }
              : { items: [page], cursor: page.last, more: page.more },
          ),
        synced: () => [],
      })
    }),
  )

/** The page after a place; undefined when there is nothing. */
export const framesAfter = (
  session: string,
  after: number,
): Effect.Effect<EventFrames | undefined, Failure, Store> =>
  Store.use((store) => store.eventFrames({ session, after, ...PAGE }))

/** One reader holds little memory, however large the events are. */
const PAGE = { limit: LIMITS.eventsPerPage, bytes: 256 * 1024 } as const

/** New appends are few events. Checking their size first would cost more than reading them. */
const FEW = 8

interface Tail<Item> {
  readonly read: (after: number, phase: TailState["phase"]) => Effect.Effect<Part<Item>, Failure>
  /** Emitted once, where the replay ends. */
  readonly synced: (after: number) => readonly Item[]
}

interface Part<Item> {
  readonly items: readonly Item[]
  /** The last sequence read. */
  readonly cursor: number
  readonly more: boolean
}

interface TailState {
  readonly cursor: number
  readonly phase: "replay" | "tail"
}

const tailPages = <Item>(
  { session, after, follow }: TailRequest,
  { read, synced }: Tail<Item>,
): Stream.Stream<Item, Failure, Signals> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const changed = follow ? (yield* (yield* Signals).watch(session)).changed : Effect.never
      const start: TailState = { cursor: after, phase: "replay" }
      return Stream.paginate(start, (state) =>
        Effect.gen(function* () {
          if (state.phase === "tail") yield* changed
          const { items, cursor, more } = yield* read(state.cursor, state.phase)
          if (more) return [items, Option.some({ cursor, phase: "replay" })] as const
          if (!follow) return [items, Option.none()] as const
          const told = state.phase === "replay" ? [...items, ...synced(cursor)] : items
          return [told, Option.some({ cursor, phase: "tail" })] as const
        }),
      )
    }),
  )
