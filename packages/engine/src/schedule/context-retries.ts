/** Retries a prompt whose first context is unavailable, with growing delays. */
import type { Failure } from "@meridian/protocol"
import { Effect, FiberMap, type Scope } from "effect"

import { LIMITS } from "../domain/limits.ts"
import { inBackground } from "../port/time.ts"

export interface ContextRetries {
  /** Called after a drain of the session has failed. */
  readonly after: (session: string, failure: Failure) => Effect.Effect<void>
}

export const openContextRetries = (
  wake: (session: string) => Effect.Effect<void>,
): Effect.Effect<ContextRetries, never, Scope.Scope> =>
  Effect.gen(function* () {
    const waiting = yield* FiberMap.make<string>()
    const delays = new Map<string, number>()

    const retry = (session: string, delayMs: number): Effect.Effect<void> =>
      Effect.sleep(delayMs).pipe(inBackground, Effect.andThen(wake(session)))

    return {
      after: (session, failure) =>
        Effect.suspend(() => {
          const earlier = delays.get(session) ?? LIMITS.contextRetryMs / 2
          if (failure.code !== "CONTEXT_UNAVAILABLE") {
            delays.delete(session)
            return FiberMap.remove(waiting, session)
          }
          const delayMs = Math.min(earlier * 2, LIMITS.contextRetryMostMs)
          delays.set(session, delayMs)
          return Effect.asVoid(FiberMap.run(waiting, session, retry(session, delayMs)))
        }),
    }
  })
