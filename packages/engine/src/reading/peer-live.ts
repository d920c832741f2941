/**
 * Live fragments of a session that another machine works on. All readers here share one stream to its owner, open while
 * there are any. When the owner changes, a new stream opens. Nothing depends on the fragments, so a broken stream is simply
 * reopened.
 */
import { Deferred, Effect, Stream, type Scope } from "effect"

import { Store, type FollowPeer, type Peer } from "../port/store.ts"
import { inBackground } from "../port/time.ts"
import { Signals } from "../session/index.ts"
import type { LiveItem } from "./live.ts"

export interface PeerLive {
  /** Adds the peer's fragments while `items` is read. */
  readonly beside: (session: string, items: Stream.Stream<LiveItem>) => Stream.Stream<LiveItem>
}

/** How often to check who the owner is. */
const LOOK_MS = 500

export const openPeerLive = (
  follow: FollowPeer | undefined,
): Effect.Effect<PeerLive, never, Store | Signals | Scope.Scope> =>
  Effect.gen(function* () {
    const { peers } = yield* Store
    const signals = yield* Signals
    const scope = yield* Effect.scope
    if (peers === undefined || follow === undefined) return { beside: (_session, items) => items }
    const readers = new Map<string, { count: number; readonly over: Deferred.Deferred<void> }>()

    const ownerOf = (session: string): Effect.Effect<Peer | undefined> =>
      Effect.orElseSucceed(peers.ownerOf(session), () => undefined)

    const untilOther = (session: string, owner: string): Effect.Effect<void> =>
      Effect.gen(function* () {
        while ((yield* ownerOf(session))?.id === owner) yield* inBackground(Effect.sleep(LOOK_MS))
      })

    const listen = (session: string, address: string): Effect.Effect<void> =>
      Effect.tryPromise(async (signal) => {
        for await (const event of follow({ address, token: peers.token, sessionID: session, signal }))
          signals.relayLive(session, event)
      }).pipe(Effect.ignore)

    const followOwner = (session: string): Effect.Effect<void> =>
      Effect.gen(function* () {
        const owner = yield* ownerOf(session)
        if (owner?.address !== undefined)
          yield* Effect.raceFirst(listen(session, owner.address), untilOther(session, owner.id))
        yield* inBackground(Effect.sleep(LOOK_MS))
      }).pipe(Effect.forever)

    const enter = (session: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        const there = readers.get(session)
        if (there !== undefined) {
          there.count += 1
          return Effect.void
        }
        const over = Deferred.makeUnsafe<void>()
        readers.set(session, { count: 1, over })
        return Effect.raceFirst(followOwner(session), Deferred.await(over)).pipe(
          Effect.forkIn(scope),
          Effect.asVoid,
        )
      })

    const leave = (session: string): Effect.Effect<void> =>
      Effect.sync(() => {
        const there = readers.get(session)
        if (there === undefined) return
        there.count -= 1
        if (there.count > 0) return
        readers.delete(session)
        Deferred.doneUnsafe(there.over, Effect.void)
      })

    return {
      beside: (session, items) =>
        Stream.unwrap(
          Effect.as(
            Effect.acquireRelease(enter(session), () => leave(session)),
            items,
          ),
        ),
    }
  })
