/** Which sessions have new events. Changes that come faster than they are taken come together; none is lost. */
import { Effect, Latch, Stream } from "effect"

import { Signals } from "../session/index.ts"

export interface SessionChanges {
  /** Sessions that were written to, as far as that is known. */
  readonly sessions: readonly string[]
  /** Another process has written, or more sessions have changed than are listed: any may have. */
  readonly elsewhere: boolean
}

/** More ids than this help nobody who wants to know what to look at. */
const MOST_SESSIONS = 200

export const changedSessions: Stream.Stream<SessionChanges, never, Signals> = Stream.unwrap(
  Effect.gen(function* () {
    const signals = yield* Signals
    const arrived = Latch.makeUnsafe(false)
    let sessions = new Set<string>()
    let elsewhere = false
    yield* signals.onChange((session) => {
      if (session === undefined) elsewhere = true
      else if (sessions.size < MOST_SESSIONS) sessions.add(session)
      else elsewhere ||= !sessions.has(session)
      arrived.openUnsafe()
    })
    const take = Effect.sync((): SessionChanges => {
      const changes = { sessions: [...sessions], elsewhere }
      sessions = new Set()
      elsewhere = false
      arrived.closeUnsafe()
      return changes
    })
    return Stream.fromEffectRepeat(Effect.andThen(arrived.await, take))
  }),
)
