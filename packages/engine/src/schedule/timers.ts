/**
 * Goes on with parked sessions when their time has come. Every process that has the store open looks; whoever takes the lease
 * first starts the step, and the others find that nothing waits any more. Times are wall-clock times, which may jump: so
 * the clock is looked at again and again, and nobody sleeps through to the end.
 */
import { Clock, Effect, type Scope } from "effect"

import { LIMITS } from "../domain/limits.ts"
import { Store } from "../port/store.ts"
import { inBackground } from "../port/time.ts"

export const openTimers = (
  wake: (session: string) => Effect.Effect<void>,
): Effect.Effect<void, never, Store | Scope.Scope> =>
  Effect.gen(function* () {
    const store = yield* Store
    const look = Effect.gen(function* () {
      // A store that cannot be read now is looked at again.
      const parked = yield* Effect.orElseSucceed(store.parked, () => [])
      const now = yield* Clock.currentTimeMillis
      const due = parked.filter(({ until }) => until <= now)
      yield* Effect.forEach(due, ({ session }) => wake(session), { discard: true })
      const next = Math.min(...parked.filter(({ until }) => until > now).map(({ until }) => until - now))
      yield* inBackground(Effect.sleep(Math.max(LIMITS.timerLeastMs, Math.min(next, LIMITS.timerPollMs))))
    })
    yield* Effect.forkScoped(Effect.forever(look))
  })
