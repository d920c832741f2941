/** Live fragments with a bounded backlog. A slow reader learns how many it missed; nothing waits for it. */
import type { LiveEvent } from "@meridian/protocol"
import { Effect, Latch, Stream } from "effect"

import { LIMITS } from "../domain/limits.ts"
import { Signals } from "../session/index.ts"

export type LiveItem = LiveEvent | { readonly type: "dropped"; readonly data: { readonly count: number } }

export const liveItems = (session: string, own = false): Stream.Stream<LiveItem, never, Signals> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const signals = yield* Signals
      const arrived = Latch.makeUnsafe(false)
      let waiting: LiveEvent[] = []
      let dropped = 0
      yield* signals.onLive(
        session,
        (event) => {
          if (waiting.length >= LIMITS.liveBacklog) {
            waiting.shift()
            dropped += 1
          }
          waiting.push(event)
          arrived.openUnsafe()
        },
        own,
      )
      const take = Effect.sync((): readonly LiveItem[] => {
        const taken: readonly LiveItem[] =
          dropped === 0 ? waiting : [{ type: "dropped", data: { count: dropped } }, ...waiting]
        waiting = []
        dropped = 0
        arrived.closeUnsafe()
        return taken
      })
      return Stream.flattenIterable(Stream.fromEffectRepeat(Effect.andThen(arrived.await, take)))
    }),
  )
