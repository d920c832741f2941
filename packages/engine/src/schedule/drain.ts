/**
 * One drain: take the lease, settle what a lost process left, then turn after turn until nothing is left to do. Decisions
 * are values from the domain; this loop carries them out.
 */
import { Failure, type DurableEvent } from "@meridian/protocol"
import { Clock, Effect, Exit } from "effect"

import { compactOnRequest } from "../compaction/index.ts"
import { unreachable } from "../domain/assert.ts"
import { LIMITS } from "../domain/limits.ts"
import { decideNext } from "../domain/next-step.ts"
import type { Boundary } from "../domain/promotion.ts"
import { hasAnsweredCall, parkedCalls } from "../domain/transcript/calls.ts"
import { inputsToRun } from "../domain/transcript/inbox.ts"
import { isParked } from "../domain/transcript/parking.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import type { LocationServices } from "../port/location.ts"
import { Store, type Acquisition } from "../port/store.ts"
import {
  Casting,
  FoldedSessions,
  Locations,
  openSessions,
  Settings,
  type SessionHandle,
  type SettingsValue,
} from "../session/index.ts"
import { resumeCalls, takeTurn } from "../turn/index.ts"
import type { Demand } from "./drains.ts"
import type { Standing, Watch } from "./elsewhere.ts"
import { settle } from "./settle.ts"

export interface DrainOptions {
  readonly session: string
  readonly demand: Demand
  /** Up to where inputs that wait for a demand have had one. */
  readonly released: () => number
  /** Up to where somebody asked to go on before the time has come. */
  readonly hurried: () => number
  /** Ends the drain when another process wants it to end, or has the session. */
  readonly watch: Watch
}

type Lease = Extract<Acquisition, { readonly kind: "acquired" }>

/** What drains are made of, found once. */
export const openDrain = Effect.gen(function* () {
  const { leases } = yield* Store
  const sessions = yield* FoldedSessions
  const withSession = yield* openSessions
  const workshop: Workshop = {
    locations: yield* Locations,
    casting: yield* Casting,
    settings: yield* Settings,
  }

  /** Waits while another process is at work here; gives up when that one did the work. */
  const acquireLease = (options: DrainOptions, first: Transcript) =>
    Effect.gen(function* () {
      const { session, demand } = options
      let transcript = first
      for (;;) {
        const now = yield* Clock.currentTimeMillis
        if (!demand.forced && !hasWork(transcript, options, now)) {
          ;({ transcript } = yield* sessions.current(session))
          if (!hasWork(transcript, options, now)) return undefined
        }
        const acquired = yield* leases.acquire(session)
        if (acquired.kind === "acquired") return acquired
        yield* Effect.interruptible(Effect.sleep(LIMITS.leasePollMs))
        ;({ transcript } = yield* sessions.current(session))
      }
    })

  return (options: DrainOptions) =>
    // What is known here is enough to begin with: the lease says whether there is more.
    Effect.flatMap(sessions.known(options.session), ({ transcript }) => {
      const standing: Standing = { interruptSeq: transcript.interruptSeq }
      const drain = Effect.acquireUseRelease(
        acquireLease(options, transcript),
        (lease) =>
          lease === undefined
            ? Effect.void
            : withSession({ fence: lease.fence, released: options.released }, (session) =>
                drainUnderLease(session, { ...options, ...workshop, lease, standing }),
              ),
        (lease, exit) => {
          if (lease === undefined) return Effect.void
          // Work that ended well often goes on at once.
          return Exit.isSuccess(exit) ? leases.rest(lease.fence) : leases.release(lease.fence)
        },
      )
      return options.watch(options.session, standing, drain)
    })
})

const hasWork = (transcript: Transcript, { released, hurried }: DrainOptions, now: number): boolean => {
  const { inbox, compactions, calls, parking } = transcript
  if (mustWait(transcript, hurried, now)) return false
  return (
    inputsToRun(inbox, released()).length > 0 ||
    compactions.requested ||
    hasAnsweredCall(calls) ||
    parking?.waits === true
  )
}

/** Parked, and nobody asked to go on before its time. */
const mustWait = ({ parking }: Transcript, hurried: () => number, now: number): boolean =>
  isParked(parking, now) && (parking?.seq ?? 0) > hurried()

interface Progress {
  /** Provider turns since the last promotion. */
  turns: number
  boundary: Boundary
  forced: boolean
  resultsToShow: boolean
}

interface Workshop {
  readonly locations: Locations["Service"]
  readonly casting: Casting["Service"]
  readonly settings: SettingsValue
}

interface DrainFacts extends Workshop, Pick<DrainOptions, "demand" | "hurried"> {
  readonly lease: Lease
  readonly standing: Standing
}

const drainUnderLease = (session: SessionHandle, facts: DrainFacts) =>
  Effect.gen(function* () {
    const { lease, standing } = facts
    if (lease.seq > session.transcript().seq) yield* session.refresh
    standing.fence = lease.fence
    standing.interruptSeq = session.transcript().interruptSeq
    yield* settle(session)
    const { demand, hurried } = facts
    // Another process may have gone on meanwhile, and parked it again.
    if (!demand.forced && mustWait(session.transcript(), hurried, yield* Clock.currentTimeMillis)) return
    const forced = demand.forced || session.transcript().parking?.waits === true
    const progress: Progress = { turns: 0, boundary: "settled", forced, resultsToShow: false }
    for (;;) {
      const directory = session.transcript().choices.location?.directory ?? ""
      const ending = yield* facts.locations
        .within(directory, (location) => drainAt(session, location, facts, progress))
        .pipe(Effect.tapError((failure) => recordObstacle(session, failure)))
      // The session moved: its next turn belongs to the tools and the context of its new place.
      if (ending === "idle") return
    }
  })

const drainAt = (
  session: SessionHandle,
  location: LocationServices,
  { casting, settings }: Workshop,
  progress: Progress,
) =>
  Effect.gen(function* () {
    const setScene = Effect.suspend(() => casting.choose(session.transcript(), location)).pipe(
      Effect.map((cast) => ({ session, location, cast, settings })),
    )
    const parked = parkedCalls(session.transcript().calls)
    if (parked.length > 0) {
      yield* resumeCalls(yield* setScene, parked)
      progress.resultsToShow = true
    }
    for (;;) {
      const scene = yield* setScene
      yield* compactOnRequest(scene)
      const { boundary, forced, resultsToShow } = progress
      const turn = yield* takeTurn(scene, { boundary, due: forced || resultsToShow })
      if (turn.kind === "moved") return "moved" as const
      if (turn.kind === "recast") continue
      if (turn.kind === "nothing" || turn.kind === "parked") return "idle" as const
      progress.forced = false
      progress.resultsToShow = turn.resultsToShow
      progress.turns = turn.promoted > 0 ? 1 : progress.turns + 1
      // The end of the turn was just appended behind everything: nothing of the inbox is unknown.
      const pending = session.inputs()
      const next = decideNext({
        resultsToShow: progress.resultsToShow,
        pendingSteers: pending.filter((input) => input.delivery === "steer").length,
        pendingQueued: pending.filter((input) => input.delivery === "queue").length,
        turns: progress.turns,
        turnLimit: settings.limits.turnsPerActivity,
      })
      switch (next.kind) {
        case "turn":
          progress.boundary = "continuing"
          break
        case "open-next":
          progress.boundary = "settled"
          break
        case "idle":
          // A compaction asked for during the last turn still has its boundary: here.
          yield* compactOnRequest(scene)
          return "idle" as const
        case "fail": {
          const failure = new Failure("TURN_LIMIT", { session: session.id, limit: next.limit })
          yield* session.append([executionFailed(failure)])
          return yield* Effect.fail(failure)
        }
        default:
          return unreachable(next)
      }
    }
  })

/** What kept a turn from being tried at all is recorded too; turns record their own end. */
const OBSTACLES: ReadonlySet<string> = new Set([
  "AGENT_NOT_FOUND",
  "MODEL_NOT_FOUND",
  "LOCATION_NOT_FOUND",
  "CONTEXT_UNAVAILABLE",
])

const recordObstacle = (session: SessionHandle, failure: Failure): Effect.Effect<void, Failure> =>
  OBSTACLES.has(failure.code) ? session.append([executionFailed(failure)]) : Effect.void

const executionFailed = (failure: Failure): DurableEvent => ({
  type: "session.next.execution.failed.1",
  data: { error: { code: failure.code, message: failure.message } },
})
