/** Which sessions have new events. Changes that arrive faster than they are read are merged; none is lost. */
import { Effect, Latch, Stream } from "effect"

import { Signals } from "../session/index.ts"

export interface SessionChanges {
  /** Sessions that were written to, as far as known. */
  readonly sessions: readonly string[]
  /** Another process has written, or more sessions have changed than are listed. Any session may have changed. */
  readonly elsewhere: boolean
}

/** A longer list would help no reader decide what to look at. */
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
