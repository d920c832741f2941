/** Work on sessions across all processes of a store: requests, waiting, interrupts and takeover. */
import { Failure } from "@meridian/protocol"
import { Context, Effect, Layer, Stream } from "effect"

import { LIMITS } from "../domain/limits.ts"
import { inputsToRun } from "../domain/transcript/inbox.ts"
import { isWaiting } from "../domain/transcript/parking.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import type { FilePlaces } from "../port/file-trees.ts"
import type { Ids } from "../port/ids.ts"
import { Store } from "../port/store.ts"
import {
  FoldedSessions,
  openSessions,
  Settings,
  Signals,
  type Casting,
  type Locations,
} from "../session/index.ts"
import { AskPermission, Tasks, type AskQuestion, type Titles } from "../turn/index.ts"
import { askOthers } from "./ask-others.ts"
import { openContextRetries } from "./context-retries.ts"
import { openDrain } from "./drain.ts"
import { openDrains, type Demand, type Drains } from "./drains.ts"
import { openWatch } from "./elsewhere.ts"
import { requestInterrupt } from "./request-interrupt.ts"
import type { SchedulerVerbs } from "./scheduler-verbs.ts"
import { recoverSession, type LostProcesses } from "./settle.ts"
import { openTimers } from "./timers.ts"

export class Scheduler extends Context.Service<Scheduler, SchedulerVerbs>()("meridian/Scheduler") {}

/** Which sessions of a lost process this one settles: all, the listed ones, or none. */
type Recovery = boolean | readonly string[]

type Services =
  | Store
  | Ids
  | Settings
  | Signals
  | FoldedSessions
  | AskPermission
  | AskQuestion
  | Tasks
  | Titles
  | Locations
  | Casting
  | LostProcesses
  | FilePlaces

export const schedulerLayer = (recovery: Recovery): Layer.Layer<Scheduler, Failure, Services> =>
  Layer.effect(
    Scheduler,
    Store.use(({ leases: { works } }) => (works ? makeScheduler(recovery) : askOthers)),
  )

const makeScheduler = (recovery: Recovery) =>
  Effect.gen(function* () {
    const store = yield* Store
    const { leases } = store
    const scope = yield* Effect.scope
    const sessions = yield* FoldedSessions
    const signals = yield* Signals
    const permissions = yield* AskPermission
    const settings = yield* Settings
    const tasks = yield* Tasks
    /** Inputs up to this sequence that waited for a demand have had one: the sequence at the last wake, run or prompt. */
    const releases = new Map<string, number>()
    const release = (session: string, through: number): void => {
      releases.set(session, Math.max(through, releases.get(session) ?? 0))
    }

    /** Somebody asked to continue early, up to this sequence. */
    const hurries = new Map<string, number>()

    let draining = false
    /** Sessions that other processes must take up: this process lacks their workspace or a place for them. */
    const left = new Set<string>()
    const others = yield* askOthers
    /** A child shares the place of its parent. The parent waits for it, so asking for a second place could block both. */
    const hasPlace = (session: string, { choices: { location, task } }: Transcript): boolean =>
      settings.places.has(location) &&
      (leases.hasRoom(session) || (task !== undefined && drains.isActive(task.sessionID)))
    const isForOthers = (session: string, transcript: Transcript): boolean =>
      !drains.isActive(session) && !hasPlace(session, transcript)

    const releasedIn = (session: string): number => releases.get(session) ?? 0

    const retries = yield* openContextRetries((session) => drains.wake(session))
    const watch = yield* openWatch((session) => Effect.ignore(drains.interrupt(session, Effect.void)))
    const drain = yield* openDrain
    const drains: Drains = yield* openDrains((session: string, demand: Demand) =>
      drain({
        session,
        demand,
        released: () => releasedIn(session),
        hurried: () => hurries.get(session) ?? 0,
        attempts: demand.attempts,
        leaves: () => draining,
        hasPlace: (transcript) => hasPlace(session, transcript),
        leftToOthers: () => void left.add(session),
        watch,
      }).pipe(Effect.tapError((failure) => afterFailure(session, failure))),
    )
    const afterFailure = (session: string, failure: Failure): Effect.Effect<void, Failure> =>
      Effect.gen(function* () {
        yield* retries.after(session, failure)
        if (failure.code !== "MODEL_FAILED") return
        // The failure of one activity does not hold up the inputs after it.
        const { transcript } = yield* sessions.current(session)
        if (inputsToRun(transcript.inbox, releasedIn(session)).length > 0) yield* drains.wake(session)
      })
    // Runs before anything the drains use is closed, so that they settle while it is still open.
    yield* Effect.addFinalizer(() => Effect.andThen(permissions.close, drains.close))

    yield* Stream.runForEach(leases.asked, ({ session, forced }) =>
      forced
        ? Effect.ignore(drains.run(session)).pipe(Effect.forkIn(scope))
        : Effect.ignore(
            Effect.flatMap(sessions.current(session), ({ transcript }) => {
              release(session, transcript.seq)
              return drains.wake(session)
            }),
          ),
    ).pipe(Effect.forkScoped)

    /** Wakes a listed session whose work was cut off. A session that continues at a set time is left to its timer. */
    const wakeListed = (listed: readonly string[], session: string): Effect.Effect<void> =>
      Effect.gen(function* () {
        if (!listed.includes(session)) return
        const { transcript } = yield* sessions.current(session)
        if (transcript.parking?.resumes !== true) yield* drains.wake(session)
      }).pipe(Effect.ignore)

    /** We do not wait for work that others will take up, unless we are one of them. */
    const waits = ({ parking }: Transcript): boolean =>
      isWaiting(parking) && (parking?.resumes !== true || recovery === true)

    /** Waits while another process is at work. It sees our appends, and we see when its lease ends. */
    const untilFree = (session: string): Effect.Effect<void, Failure> =>
      Effect.flatMap(leases.isHeldElsewhere(session), (held) =>
        held ? Effect.andThen(Effect.sleep(LIMITS.foreignPollMs), untilFree(session)) : Effect.void,
      )

    const settled = (session: string): Effect.Effect<void, Failure> =>
      Effect.andThen(drains.awaitIdle(session), untilFree(session))

    /** Waits for a session that waits for its provider. Each hint triggers another look. */
    const untilDone = (session: string): Effect.Effect<void, Failure> =>
      Effect.scoped(
        Effect.gen(function* () {
          const { changed } = yield* signals.watch(session)
          for (;;) {
            yield* settled(session)
            if (!waits((yield* sessions.current(session)).transcript)) return
            yield* changed
          }
        }),
      )

    const verbs = Scheduler.of({
      wake: (session, { through = 0, until, early = false } = {}) =>
        Effect.suspend(() => {
          left.delete(session)
          release(session, through)
          if (early) hurries.set(session, through)
          return until === undefined ? drains.wake(session) : drains.wakeBeside(session, until)
        }),
      run: (session) =>
        Effect.gen(function* () {
          const { transcript } = yield* sessions.current(session)
          if (draining) return yield* Effect.fail(new Failure("ENGINE_CLOSED"))
          if (isForOthers(session, transcript)) return yield* others.run(session)
          release(session, transcript.seq)
          yield* drains.run(session)
        }),
      interrupt: (session) =>
        Effect.gen(function* () {
          if (drains.isActive(session))
            return yield* drains.interrupt(session, requestInterrupt(sessions, session))
          const isHeld = yield* leases.isHeldElsewhere(session)
          if (!isHeld && (yield* store.session(session))?.parkedUntil === undefined) return
          yield* requestInterrupt(sessions, session)
          yield* untilFree(session)
        }),
      settled,
      wait: (session) =>
        Effect.suspend(() => {
          // If this process worked on the session, it already knows how the work ended.
          const look = drains.isActive(session) ? sessions.known(session) : sessions.current(session)
          return settled(session).pipe(
            Effect.andThen(look),
            Effect.flatMap(({ transcript }) => {
              if (left.delete(session)) return others.wait(session)
              return waits(transcript) ? untilDone(session) : Effect.void
            }),
          )
        }),
      drain: Effect.gen(function* () {
        draining = true
        // If this cannot be announced, the others learn it from the log.
        yield* Effect.ignore(leases.retire)
        yield* Effect.forEach(drains.active(), (session) => Effect.ignore(drains.awaitIdle(session)), {
          concurrency: "unbounded",
          discard: true,
        })
      }),
      isDraining: () => draining,
      isActive: drains.isActive,
      active: Effect.sync(drains.active),
    })
    yield* tasks.introduce({
      wake: (session, through) => verbs.wake(session, { through }),
      run: verbs.run,
      interrupt: verbs.interrupt,
      wait: verbs.wait,
      isActive: verbs.isActive,
    })
    // Recovery comes last: resumed work may have children and asks the scheduler for them.
    if (recovery !== false) {
      const recover = recoverAll(drains, recovery)
      // After a failed write the next signal triggers another look.
      yield* Stream.runForEach(leases.lost, () => (draining ? Effect.void : Effect.ignore(recover))).pipe(
        Effect.forkScoped,
      )
      yield* recover
      yield* openTimers((session) =>
        recovery === true ? drains.wake(session) : wakeListed(recovery, session),
      )
    }
    return verbs
  })

/**
 * Settles what a dead process left before anyone looks, and resumes it where the policy says so. Then works on the inputs
 * that ask for it. When only listed sessions are ours, the opener of the engine must ask for their work to resume.
 */
const recoverAll = (drains: Drains, recovery: true | readonly string[]) =>
  Effect.gen(function* () {
    const store = yield* Store
    const withSession = yield* openSessions
    const lost = yield* store.leases.abandoned
    yield* Effect.forEach(
      lost.filter((session) => recovery === true || recovery.includes(session)),
      (session) =>
        Effect.gen(function* () {
          const goesOn = yield* recoverSession(session, withSession)
          if (goesOn && recovery === true) yield* drains.wake(session)
        }),
      { concurrency: 8, discard: true },
    )
    if (recovery !== true) return
    for (const session of yield* store.runnable) yield* drains.wake(session)
  })
