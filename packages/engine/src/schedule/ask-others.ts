/**
 * The scheduler of a process that runs nothing itself. It admits and reads; other processes do the work. It asks them
 * through the store and watches the log. Admitted inputs are in the log and need no asking.
 */
import { Failure } from "@meridian/protocol"
import { Clock, Effect } from "effect"

import { LIMITS } from "../domain/limits.ts"
import { hasAnsweredCall } from "../domain/transcript/calls.ts"
import { inputsToRun } from "../domain/transcript/inbox.ts"
import { isWaiting } from "../domain/transcript/parking.ts"
import { Store } from "../port/store.ts"
import { monotonicMs } from "../port/time.ts"
import { FoldedSessions } from "../session/index.ts"
import { requestInterrupt } from "./request-interrupt.ts"
import type { SchedulerVerbs } from "./scheduler-verbs.ts"

/** How many looks pass between two requests to the others. */
const ASK_AGAIN = 5

export const askOthers = Effect.gen(function* () {
  const store = yield* Store
  const { leases } = store
  const sessions = yield* FoldedSessions
  let draining = false
  const again = Effect.sleep(LIMITS.foreignPollMs)

  /** A process works on the session, or has a reason to. */
  const isBusy = (session: string): Effect.Effect<boolean, Failure> =>
    Effect.gen(function* () {
      if (yield* leases.isHeldElsewhere(session)) return true
      const { inbox, calls, parking } = (yield* sessions.current(session)).transcript
      // No process works on a session that waits for its provider.
      if (isWaiting(parking)) return false
      return inputsToRun(inbox, 0).length > 0 || hasAnsweredCall(calls)
    })
  const untilDone = (session: string): Effect.Effect<void, Failure> =>
    Effect.gen(function* () {
      while (true) {
        yield* untilIdle(session)
        if (!isWaiting((yield* sessions.current(session)).transcript.parking)) return
        yield* again
      }
    })
  const untilIdle = (session: string): Effect.Effect<void, Failure> =>
    Effect.gen(function* () {
      while (yield* isBusy(session)) yield* again
    })
  const untilFree = (session: string): Effect.Effect<void, Failure> =>
    Effect.gen(function* () {
      while (yield* leases.isHeldElsewhere(session)) yield* again
    })

  /** Completes when a worker that heard us has the session, or has already written to it. */
  const untilBegun = (session: string, seq: number): Effect.Effect<void, Failure> =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const deadline = monotonicMs(clock) + leases.patienceMs
      for (let looks = 0; !(yield* leases.isHeldElsewhere(session)); looks += 1) {
        // A place may have become free since the last request.
        if (looks % ASK_AGAIN === 0) yield* leases.ask({ session, forced: true, seq })
        if ((yield* sessions.current(session)).transcript.seq > seq) return
        if (monotonicMs(clock) > deadline) return yield* Effect.fail(new Failure("NO_WORKER", { session }))
        yield* again
      }
    })

  return {
    wake: (session, { until = Effect.void, early = false } = {}) =>
      Effect.gen(function* () {
        // Only a forced run starts before the time of a parked session.
        const { parking, seq } = (yield* sessions.current(session)).transcript
        yield* leases.ask({ session, forced: early && isWaiting(parking), seq })
        yield* until
      }),
    run: (session) =>
      Effect.gen(function* () {
        const { seq } = (yield* sessions.current(session)).transcript
        yield* untilBegun(session, seq)
        yield* untilIdle(session)
      }),
    interrupt: (session) =>
      Effect.gen(function* () {
        const isHeld = yield* leases.isHeldElsewhere(session)
        if (!isHeld && (yield* store.session(session))?.parkedUntil === undefined) return
        yield* requestInterrupt(sessions, session)
        yield* untilFree(session)
      }),
    settled: untilIdle,
    wait: untilDone,
    drain: Effect.sync(() => {
      draining = true
    }),
    isDraining: () => draining,
    isActive: () => false,
    active: Effect.succeed([]),
  } satisfies SchedulerVerbs
})
