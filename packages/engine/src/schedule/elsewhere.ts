/** Ends a drain when another process has asked for an interrupt, or has taken the session over. */
import type { Failure } from "@meridian/protocol"
import { Effect, FiberSet, type Scope } from "effect"

import { Store, type Fence } from "../port/store.ts"
import { FoldedSessions, Signals } from "../session/index.ts"

/** How far a drain is. The drain keeps it up to date. */
export interface Standing {
  fence?: Fence
  /** Interrupts up to this sequence concern earlier work. */
  interruptSeq: number
}

/** Watches a session while `use` runs. */
export type Watch = <A, E, R>(
  session: string,
  standing: Standing,
  use: Effect.Effect<A, E, R>,
) => Effect.Effect<A, E, R>

export const openWatch = (
  stop: (session: string) => Effect.Effect<void>,
): Effect.Effect<Watch, never, Store | FoldedSessions | Signals | Scope.Scope> =>
  Effect.gen(function* () {
    const { leases } = yield* Store
    const sessions = yield* FoldedSessions
    const signals = yield* Signals
    const start = yield* FiberSet.runtime(yield* FiberSet.make<void>())()

    const isOver = (session: string, standing: Standing): Effect.Effect<boolean, Failure> =>
      Effect.gen(function* () {
        const { fence } = standing
        if (fence !== undefined && (yield* leases.renew(fence)) === "lost") return true
        return (yield* sessions.current(session)).transcript.interruptSeq > standing.interruptSeq
      })

    return (session, standing, use) =>
      Effect.suspend(() => {
        let stopped = false
        const look = isOver(session, standing).pipe(
          // After a failure the next hint triggers another look.
          Effect.orElseSucceed(() => false),
          Effect.flatMap((over) => {
            // Only once: demands that arrive during cleanup must survive.
            if (!over || stopped) return Effect.void
            stopped = true
            return stop(session)
          }),
        )
        return signals.onForeign(() => void start(look), use)
      })
  })
