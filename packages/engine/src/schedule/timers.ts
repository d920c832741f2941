/**
 * Resumes parked sessions when their time has come. Every process that has the store open looks. The first to take the
 * lease starts the step; the others find nothing waiting. Times are wall-clock times and may jump, so this polls the clock
 * instead of sleeping until the time.
 */
import { Effect, type Scope } from "effect"

import { LIMITS } from "../domain/limits.ts"
import { Store } from "../port/store.ts"
import { inBackground } from "../port/time.ts"

export const openTimers = (
  wake: (session: string) => Effect.Effect<void>,
): Effect.Effect<void, never, Store | Scope.Scope> =>
  Effect.gen(function* () {
    const store = yield* Store
    const look = Effect.gen(function* () {
      // If the store cannot be read now, the next round tries again.
      const parked = yield* Effect.orElseSucceed(store.parked, () => [])
      const now = store.now()
      const due = parked.filter(({ until }) => until <= now)
      yield* Effect.forEach(due, ({ session }) => wake(session), { discard: true })
      const next = Math.min(...parked.filter(({ until }) => until > now).map(({ until }) => until - now))
      yield* inBackground(Effect.sleep(Math.max(LIMITS.timerLeastMs, Math.min(next, LIMITS.timerPollMs))))
    })
    yield* Effect.forkScoped(Effect.forever(look))
  })
