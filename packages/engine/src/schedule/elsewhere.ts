/** Ends a drain when another process has asked for an interrupt, or has taken the session over. */
import type { Failure } from "@meridian/protocol"
import { Effect, FiberSet, type Scope } from "effect"

import { Store, type Fence } from "../port/store.ts"
import { FoldedSessions, Signals } from "../session/index.ts"

/** Runs a drain that says when it has its lease. */
export type Watch = <R>(
  session: string,
  drain: (onLease: (fence: Fence) => void) => Effect.Effect<void, Failure, R>,
) => Effect.Effect<void, Failure, R>

export const openWatch = (
  stop: (session: string) => Effect.Effect<void>,
): Effect.Effect<Watch, never, Store | FoldedSessions | Signals | Scope.Scope> =>
  Effect.gen(function* () {
    const { leases } = yield* Store
    const sessions = yield* FoldedSessions
    const signals = yield* Signals
    const start = yield* FiberSet.runtime(yield* FiberSet.make<void>())()

    const isOver = (
      session: string,
      fence: Fence | undefined,
      interruptSeq: number,
    ): Effect.Effect<boolean, Failure> =>
      Effect.gen(function* () {
        if (fence !== undefined && (yield* leases.renew(fence)) === "lost") return true
        return (yield* sessions.current(session)).transcript.interruptSeq > interruptSeq
      })

    return (session, drain) =>
      Effect.scoped(
        Effect.gen(function* () {
          const { interruptSeq } = (yield* sessions.current(session)).transcript
          let fence: Fence | undefined
          let stopped = false
          const look = Effect.suspend(() => isOver(session, fence, interruptSeq)).pipe(
            // Looked at again with the next hint.
            Effect.orElseSucceed(() => false),
            Effect.flatMap((over) => {
              // Once: what is demanded while the cleanup runs must survive.
              if (!over || stopped) return Effect.void
              stopped = true
              return stop(session)
            }),
          )
          yield* signals.onForeign(() => void start(look))
          yield* drain((acquired) => {
            fence = acquired
          })
        }),
      )
  })
