/**
 * One drain: take the lease, settle what a lost process left, then turn after turn until nothing is left to do. Decisions
 * are values from the domain; this loop carries them out.
 */
import { Failure, messageId, type DurableEvent, type Json } from "@meridian/protocol"
import { Effect, Exit, Semaphore } from "effect"

import { unreachable } from "../domain/assert.ts"
import { LIMITS } from "../domain/limits.ts"
import { decideNext } from "../domain/next-step.ts"
import type { Boundary } from "../domain/promotion.ts"
import { hasAnsweredCall, parkedCalls } from "../domain/transcript/calls.ts"
import { hasUnfinishedWork, type Transcript } from "../domain/transcript/transcript.ts"
import type { World } from "../port/world.ts"
import type { Acquisition } from "../store/leases.ts"
import type { Fence, SessionHead } from "../store/log.ts"
import type { Store } from "../store/store.ts"
import { attempt, attemptNow } from "./attempt.ts"
import { inputsToRun } from "./begin-turn.ts"
import { runCall } from "./calls.ts"
import { chooseCast } from "./cast.ts"
import type { Demand } from "./drains.ts"
import type { Histories } from "./histories.ts"
import { settleLeftovers } from "./leftovers.ts"
import type { Locations, LocationServices } from "./locations.ts"
import type { Permissions } from "./permissions.ts"
import type { Settings } from "./settings.ts"
import type { Signals } from "./signals.ts"
import { compactOnRequest, discoveries, takeTurn } from "./take-turn.ts"
import type { Call } from "./tool-call.ts"

export interface Runtime {
  readonly store: Store
  readonly world: World
  readonly settings: Settings
  readonly signals: Signals
  readonly histories: Histories
  readonly permissions: Permissions
  readonly locations: Locations
  /** The fence of each session at work here. */
  readonly fences: Map<string, Fence>
  /** Up to where inputs that wait for a demand have had one: the sequence at the last wake, run or prompt. */
  readonly releases: Map<string, number>
  /** Ends processes that calls of a lost engine left running. */
  readonly endProcesses: (
    calls: readonly { readonly sessionID: string; readonly messageID: string; readonly callID: string }[],
  ) => Promise<void>
}

type Lease = Extract<Acquisition, { readonly kind: "acquired" }>

interface Progress {
  /** Provider turns since the last promotion. */
  turns: number
  boundary: Boundary
  forced: boolean
  resultsToShow: boolean
}

export const drainSession = (
  runtime: Runtime,
  session: SessionHead,
  demand: Demand,
): Effect.Effect<void, Failure> =>
  Effect.acquireUseRelease(
    acquireLease(runtime, session, demand),
    (lease) => {
      if (lease === undefined) return Effect.void
      runtime.fences.set(session.id, lease.fence)
      return drainUnderLease(runtime, session, lease, demand)
    },
    (lease, exit) => {
      if (lease === undefined) return Effect.void
      runtime.fences.delete(session.id)
      const { leases } = runtime.store
      if (Exit.isSuccess(exit)) return Effect.sync(() => leases.rest(lease.fence))
      return attempt(() => leases.release(lease.fence)).pipe(Effect.ignore)
    },
  )

/** Settles what a lost process left in a session, without going on with it. Nothing happens while somebody is at it. */
export const recoverSession = (runtime: Runtime, sessionID: string): Effect.Effect<void, Failure> =>
  Effect.acquireUseRelease(
    attempt(() => runtime.store.leases.acquire(runtime.store.log.head(sessionID).key)),
    (lease) =>
      lease.kind === "acquired"
        ? settle(runtime, sessionID, lease.fence).pipe(
            Effect.andThen(lease.abandoned ? reportUnfinished(runtime, sessionID, lease.fence) : Effect.void),
          )
        : Effect.void,
    (lease) =>
      lease.kind === "acquired"
        ? attempt(() => runtime.store.leases.release(lease.fence)).pipe(Effect.ignore)
        : Effect.void,
  )

/** Waits while another process is at work here; gives up when that one did the work. */
const acquireLease = (runtime: Runtime, session: SessionHead, demand: Demand) =>
  Effect.gen(function* () {
    for (;;) {
      const acquired = yield* attemptNow(() =>
        demand.forced || hasWork(runtime, session) ? runtime.store.leases.acquire(session.key) : undefined,
      )
      if (acquired === undefined) return undefined
      if (acquired.kind === "acquired") return acquired
      yield* Effect.interruptible(Effect.sleep(LIMITS.leasePollMs))
    }
  })

const hasWork = (runtime: Runtime, session: SessionHead): boolean => {
  const { transcript } = runtime.histories.current(session)
  return (
    inputsToRun(runtime, session.id, transcript).length > 0 ||
    transcript.compactions.requested ||
    hasAnsweredCall(transcript.calls)
  )
}

export const hasPendingInput = (runtime: Runtime, sessionID: string): boolean =>
  inputsToRun(runtime, sessionID, runtime.histories.current(runtime.store.log.head(sessionID)).transcript)
    .length > 0

const settle = (runtime: Runtime, sessionID: string, fence: Fence): Effect.Effect<void, Failure> => {
  const { transcript } = runtime.histories.current({ id: sessionID, key: fence.key })
  const left = settleLeftovers(transcript)
  return left.length === 0 ? Effect.void : settleAll(runtime, sessionID, fence, transcript, left)
}

const settleAll = (
  { store, endProcesses }: Runtime,
  sessionID: string,
  fence: Fence,
  transcript: Transcript,
  left: readonly DurableEvent[],
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const calls = transcript.calls.open.flatMap(({ messageID, callID, hosted }) =>
      hosted ? [] : [{ sessionID, messageID, callID }],
    )
    if (calls.length > 0) yield* Effect.promise(() => endProcesses(calls))
    yield* attemptNow(() => store.log.append({ sessionID, fence }, left))
  })

/** Not gone on with, and not silent either: the session shows as interrupted until somebody runs it. */
const reportUnfinished = (runtime: Runtime, sessionID: string, fence: Fence): Effect.Effect<void, Failure> =>
  attempt(() => {
    const { transcript } = runtime.histories.current({ id: sessionID, key: fence.key })
    if (!hasUnfinishedWork(transcript) || parkedCalls(transcript.calls).length > 0) return
    const error = {
      code: "INTERRUPTED",
      message: "The process that worked on this ended before it was done.",
    }
    runtime.store.log.append({ sessionID, fence }, [
      { type: "session.next.execution.failed.1", data: { error } },
    ])
  })

const drainUnderLease = (runtime: Runtime, session: SessionHead, lease: Lease, demand: Demand) =>
  Effect.gen(function* () {
    const sessionID = session.id
    const { fence } = lease
    // A lease rests only after work that ended well: nothing of it is open.
    if (!lease.rested) yield* settle(runtime, sessionID, fence)
    const progress: Progress = { turns: 0, boundary: "settled", forced: demand.forced, resultsToShow: false }
    for (let { directory } = session; ;) {
      const place = { sessionID, fence, directory }
      const ending = yield* runtime.locations
        .within(directory, (location) => drainAt(runtime, { ...place, location }, progress))
        .pipe(Effect.tapError((failure) => recordObstacle(runtime, sessionID, fence, failure)))
      // The session moved: its next turn belongs to the tools and the context of its new place.
      if (ending === "idle") return
      ;({ directory } = yield* attemptNow(() => runtime.store.log.head(sessionID)))
    }
  })

export interface Place {
  readonly sessionID: string
  readonly fence: Fence
  readonly directory: string
  readonly location: LocationServices
}

const drainAt = (
  runtime: Runtime,
  place: Place,
  progress: Progress,
): Effect.Effect<"idle" | "moved", Failure> =>
  Effect.gen(function* () {
    const { settings } = runtime
    const { sessionID, fence } = place
    yield* resumeParked(runtime, place, progress)
    for (;;) {
      const cast = yield* chooseCast(runtime, place)
      yield* compactOnRequest(runtime, place, cast)
      const { boundary, forced, resultsToShow } = progress
      const turn = yield* takeTurn(runtime, place, cast, { boundary, due: forced || resultsToShow })
      if (turn.kind === "moved") return "moved"
      if (turn.kind === "recast") continue
      if (turn.kind === "nothing") return "idle"
      progress.forced = false
      progress.resultsToShow = turn.resultsToShow
      progress.turns = turn.promoted > 0 ? 1 : progress.turns + 1
      const { histories } = runtime
      // With results to show there is another turn in any case, and that one looks again.
      const look = progress.resultsToShow ? histories.known : histories.current
      const pending = yield* attemptNow(() =>
        inputsToRun(runtime, sessionID, look({ id: sessionID, key: fence.key }).transcript),
      )
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
        case "idle": {
          // A compaction asked for during the last turn still has its boundary: here.
          yield* compactOnRequest(runtime, place, cast)
          return "idle"
        }
        case "fail": {
          const failure = new Failure("TURN_LIMIT", { session: sessionID, limit: next.limit })
          yield* attemptNow(() => runtime.store.log.append(place, [executionFailed(failure)]))
          return yield* Effect.fail(failure)
        }
        default:
          return unreachable(next)
      }
    }
  })

/** Starts again what had only asked when its process died; its record says so first. */
const resumeParked = (runtime: Runtime, place: Place, progress: Progress): Effect.Effect<void, Failure> => {
  const { transcript } = runtime.histories.known({ id: place.sessionID, key: place.fence.key })
  const parked = parkedCalls(transcript.calls)
  return parked.length === 0 ? Effect.void : resume(runtime, place, progress, parked)
}

const resume = (
  runtime: Runtime,
  place: Place,
  progress: Progress,
  parked: ReturnType<typeof parkedCalls>,
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { sessionID, fence } = place
    const cast = yield* chooseCast(runtime, place)
    yield* attemptNow(() =>
      runtime.store.log.append(
        place,
        parked.map(({ messageID, callID }) => ({
          type: "session.next.tool.resumed.1",
          data: { assistantMessageID: messageId(messageID), callID },
        })),
      ),
    )
    const scene = {
      sessionID,
      fence,
      append: (events: readonly DurableEvent[]) => runtime.store.log.append(place, events),
      agent: cast.agent.name,
      rules: cast.rules,
      tools: cast.tools,
      project: place.directory,
      permissions: runtime.permissions,
      consequences: (call: Call) => discoveries(runtime, place, call),
    }
    const recorded = runtime.store.database.synced()
    const slots = Semaphore.makeUnsafe(LIMITS.toolCallsAtOnce)
    yield* Effect.forEach(
      parked,
      ({ messageID, callID, tool, input: given }) => {
        const input: Json = given ?? {}
        return runCall(scene, { messageID, callID, tool, input }, slots, recorded)
      },
      // The slots bound it; every call must be entered, so that an interrupt settles each of them.
      { concurrency: "unbounded", discard: true },
    )
    progress.resultsToShow = true
  })

/** What kept a turn from being tried at all is recorded too; turns record their own end. */
const OBSTACLES: ReadonlySet<string> = new Set([
  "AGENT_NOT_FOUND",
  "MODEL_NOT_FOUND",
  "LOCATION_NOT_FOUND",
  "CONTEXT_UNAVAILABLE",
])

const recordObstacle = (runtime: Runtime, sessionID: string, fence: Fence, failure: Failure) =>
  OBSTACLES.has(failure.code)
    ? attempt(() => runtime.store.log.append({ sessionID, fence }, [executionFailed(failure)]))
    : Effect.void

const executionFailed = (failure: Failure): DurableEvent => ({
  type: "session.next.execution.failed.1",
  data: { error: { code: failure.code, message: failure.message } },
})
