/**
 * One drain: take the lease, settle what a lost process left, then run turns until nothing is left to do. The domain
 * decides, and its decisions are values; this loop carries them out.
 */
import { Failure, type DurableEvent } from "@meridian/protocol"
import { Effect, Exit, Fiber } from "effect"

import { compactOnRequest } from "../compaction/index.ts"
import { unreachable } from "../domain/assert.ts"
import { LIMITS } from "../domain/limits.ts"
import { decideNext } from "../domain/next-step.ts"
import type { Boundary } from "../domain/promotion.ts"
import { hasAnsweredCall, parkedCalls } from "../domain/transcript/calls.ts"
import { inputsToRun } from "../domain/transcript/inbox.ts"
import { isParked } from "../domain/transcript/parking.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import { fromThrowing } from "../port/from-throwing.ts"
import type { LocationServices } from "../port/location.ts"
import { Store, type Acquisition } from "../port/store.ts"
import {
  Casting,
  finishUndo,
  FoldedSessions,
  Locations,
  openSessions,
  pauseWhenSpent,
  Settings,
  type LateWork,
  type SessionHandle,
  type SettingsValue,
} from "../session/index.ts"
import { readAnswer, resumeCalls, takeTurn, Tasks, type Occasion } from "../turn/index.ts"
import type { Demand } from "./drains.ts"
import type { Standing, Watch } from "./elsewhere.ts"
import { leaveForOthers, markToGoOn, settle } from "./settle.ts"

export interface DrainOptions {
  readonly session: string
  readonly demand: Demand
  /** Inputs up to this sequence that waited for a demand have had one. */
  readonly released: () => number
  /** Somebody asked to continue early, up to this sequence. */
  readonly hurried: () => number
  /** Called when the drain resumes work that waited. That counts as an attempt, as if somebody had asked for one. */
  readonly attempts: () => void
  /** The process is leaving: work in progress ends its turn and continues in another process. */
  readonly leaves: () => boolean
  /** Whether this process may work on the session: it has the workspace, and a place. */
  readonly hasPlace: (transcript: Transcript) => boolean
  /** Called when this process cannot work on the session but others may. */
  readonly leftToOthers: () => void
  /** Ends the drain when another process asks for an interrupt, or takes the session. */
  readonly watch: Watch
}

type Lease = Extract<Acquisition, { readonly kind: "acquired" }>

/** Collects what every drain needs, once. */
export const openDrain = Effect.gen(function* () {
  const store = yield* Store
  const { leases } = store
  const sessions = yield* FoldedSessions
  const withSession = yield* openSessions
  const workshop: Workshop = {
    locations: yield* Locations,
    casting: yield* Casting,
    settings: yield* Settings,
  }

  /** Waits while another process works on the session. Gives up when that process has done the work. */
  const acquireLease = (options: DrainOptions, first: Transcript) =>
    Effect.gen(function* () {
      const { session, demand, leftToOthers } = options
      let transcript = first
      for (;;) {
        const now = store.now()
        if (!demand.forced && !hasWork(transcript, options, now)) {
          ;({ transcript } = yield* sessions.current(session))
          if (!hasWork(transcript, options, now)) return undefined
        }
        if (!options.hasPlace(transcript)) return leftToOthers()
        const acquired = yield* leases.acquire(session)
        if (acquired.kind === "acquired") return acquired
        if (acquired.kind === "newer") return leftToOthers()
        yield* Effect.interruptible(Effect.sleep(LIMITS.leasePollMs))
        ;({ transcript } = yield* sessions.current(session))
      }
    })

  return (options: DrainOptions) => {
    if (options.leaves()) return Effect.void
    // What is known here is enough to begin with: the lease says whether there is more.
    return Effect.flatMap(sessions.known(options.session), ({ transcript }) => {
      const standing: Standing = { interruptSeq: transcript.interruptSeq }
      const drain = Effect.acquireUseRelease(
        acquireLease(options, transcript),
        (lease) =>
          lease === undefined
            ? Effect.void
            : withSession({ fence: lease.fence, released: options.released }, (session) =>
                drainUnderLease(session, { ...options, ...workshop, lease, standing }).pipe(
                  // When this fails, another process has the session and does the same.
                  Effect.onInterrupt(() => Effect.ignore(leaveForOthers(session, standing.interruptSeq))),
                ),
              ),
        (lease, exit) => {
          if (lease === undefined) return Effect.void
          // Work that ended well often continues at once, so its lease only rests.
          return Exit.isSuccess(exit) ? leases.rest(lease.fence) : leases.release(lease.fence)
        },
      )
      return options.watch(options.session, standing, drain)
    })
  }
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

/** The session is parked, and nobody asked to continue early. */
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

interface DrainFacts extends Workshop, Pick<DrainOptions, "demand" | "hurried" | "attempts" | "leaves"> {
  readonly lease: Lease
  readonly standing: Standing
}

const drainUnderLease = (session: SessionHandle, facts: DrainFacts) =>
  Effect.gen(function* () {
    const { lease, standing } = facts
    if (lease.seq > session.transcript().seq) yield* session.refresh
    standing.fence = lease.fence
    standing.interruptSeq = session.transcript().interruptSeq
    yield* settle(session, lease)
    yield* adoptChildren(session.transcript(), session.id)
    if (session.transcript().undoing.open !== undefined) yield* finishUndo(session)
    const { demand, hurried, attempts } = facts
    // Another process may have worked on the session and parked it again.
    if (!demand.forced && mustWait(session.transcript(), hurried, session.now())) return
    if (session.transcript().activity.answer.unread) yield* readAnswer(session, facts.settings)
    const progress = beginProgress(session.transcript(), demand)
    if (progress.forced) attempts()
    for (;;) {
      const ending = yield* fromThrowing(() =>
        facts.settings.places.directoryOf(session.transcript().choices.location),
      ).pipe(
        Effect.flatMap((directory) =>
          facts.locations.within(directory, (location) => drainAt(session, location, facts, progress)),
        ),
        Effect.tapError((failure) => recordObstacle(session, failure)),
      )
      // The session moved. Its next turn needs the tools and the context of its new place.
      if (ending === "idle") return
    }
  })

/** Background children of this session need a watcher; so does this session if it is one. */
const adoptChildren = ({ tasks, choices: { task } }: Transcript, session: string) =>
  Tasks.use(({ adopt }) =>
    Effect.gen(function* () {
      if (tasks.some(({ background, ended }) => background && !ended)) yield* adopt(session)
      // The parent may be gone.
      if (task?.background === true) yield* Effect.ignore(adopt(task.sessionID))
    }),
  )

/**
 * Work that was cut off or had to wait continues before a queued input opens the next activity. Its earlier turns still
 * count.
 */
const beginProgress = ({ activity, parking }: Transcript, demand: Demand): Progress => {
  const goesOn = parking?.waits === true && activity.state === "open"
  const forced = demand.forced || goesOn
  return {
    turns: goesOn ? activity.turns : 0,
    boundary: forced && activity.state !== "done" ? "continuing" : "settled",
    forced,
    resultsToShow: false,
  }
}

const drainAt = (
  session: SessionHandle,
  location: LocationServices,
  { casting, settings, leaves }: Workshop & Pick<DrainOptions, "leaves">,
  progress: Progress,
) => {
  const late = openLateWork()
  return Effect.gen(function* () {
    const setScene = (occasion?: Occasion) =>
      Effect.suspend(() => {
        const moment = occasion && { ...occasion, released: session.released() }
        return casting.choose(session.transcript(), location, moment)
      }).pipe(Effect.map((cast) => ({ session, location, cast, settings, late })))
    const parked = parkedCalls(session.transcript().calls)
    if (parked.length > 0) {
      yield* resumeCalls(yield* setScene(), parked)
      progress.resultsToShow = true
    }
    for (;;) {
      const { boundary, turns, forced, resultsToShow } = progress
      const occasion = { boundary, turns, due: forced || resultsToShow }
      const scene = yield* setScene(occasion)
      if (session.transcript().compactions.requested && (yield* pauseWhenSpent(scene))) return "idle" as const
      yield* compactOnRequest(scene)
      const turn = yield* takeTurn(scene, occasion)
      if (turn.kind === "moved") return "moved" as const
      if (turn.kind === "recast") continue
      if (turn.kind === "nothing") yield* unpark(session)
      if (turn.kind === "nothing" || turn.kind === "parked") return "idle" as const
      if (session.transcript().activity.answer.unread) yield* readAnswer(session, settings)
      const { state, overrides, answer } = session.transcript().activity
      const isWanted = state === "open" && overrides.format !== undefined
      progress.forced = false
      // The requested value ends the work, whatever else came with it.
      progress.resultsToShow = isWanted || (turn.resultsToShow && state !== "done")
      progress.turns = turn.promoted > 0 ? 1 : progress.turns + 1
      // The end of the turn was just appended at the end of the log, so every input is known.
      const pending = session.inputs()
      // The log holds the results of one prompt before the next prompt.
      if (pending.length > 0) yield* late.done
      const next = decideNext({
        resultsToShow: progress.resultsToShow,
        pendingSteers: pending.filter((input) => input.delivery === "steer").length,
        pendingQueued: pending.filter((input) => input.delivery === "queue").length,
        turns: progress.turns,
        // The agent's own step limit was already applied when the turn began.
        turnLimit: scene.cast.isLast ? progress.turns : settings.limits.turnsPerActivity,
        ...(isWanted ? { wanted: { refused: answer.refused, mostRefused: LIMITS.refusedAnswers } } : {}),
      })
      if (leaves() && (next.kind === "turn" || next.kind === "open-next")) return yield* handOver(session)
      switch (next.kind) {
        case "turn":
          progress.boundary = "continuing"
          break
        case "open-next":
          progress.boundary = "settled"
          break
        case "idle":
          // A compaction requested during the last turn finds its boundary here.
          if (session.transcript().compactions.requested && (yield* pauseWhenSpent(scene)))
            return "idle" as const
          yield* compactOnRequest(scene)
          return "idle" as const
        case "no-answer":
          return yield* giveUp(session, new Failure("OUTPUT_INVALID", { problem: answer.problem ?? "" }))
        case "fail": {
          const limit = Math.min(next.limit, scene.cast.bounds.steps)
          return yield* giveUp(session, new Failure("TURN_LIMIT", { session: session.id, limit }))
        }
        default:
          return unreachable(next)
      }
    }
  }).pipe(
    Effect.tap(() => late.done),
    Effect.ensuring(Effect.ignore(late.done)),
  )
}

const openLateWork = (): LateWork => {
  let last: Fiber.Fiber<void, Failure> | undefined
  const done: LateWork["done"] = Effect.suspend(() => (last === undefined ? Effect.void : Fiber.join(last)))
  return {
    begin: (work) =>
      Effect.andThen(
        done,
        Effect.map(
          Effect.forkChild(Effect.uninterruptible(work), { startImmediately: true }),
          (fiber): void => {
            last = fiber
          },
        ),
      ),
    done,
  }
}

/** Unparks a session whose question was answered after the waiting work had been taken back. */
const unpark = (session: SessionHandle): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const now = session.now()
    const isLeft = ({ parking }: Transcript): boolean => parking?.waits === true && !isParked(parking, now)
    if (!isLeft(session.transcript())) return
    yield* session.decide((transcript) => ({
      kind: "append",
      events: isLeft(transcript) ? [{ type: "session.next.unparked.1", data: {} }] : [],
      answer: () => undefined,
    }))
  })

/** Unfinished work continues in another process. Waiting inputs need no mark for that. */
const handOver = (session: SessionHandle): Effect.Effect<never, Failure> =>
  Effect.andThen(markToGoOn(session), Effect.fail(new Failure("ENGINE_CLOSED")))

const giveUp = (session: SessionHandle, failure: Failure): Effect.Effect<never, Failure> =>
  Effect.andThen(session.append([executionFailed(failure)]), Effect.fail(failure))

/** Failures that kept a turn from starting. They are recorded too; a started turn records its own end. */
const OBSTACLES: ReadonlySet<string> = new Set([
  "AGENT_NOT_FOUND",
  "MODEL_NOT_FOUND",
  "LOCATION_NOT_FOUND",
  "WORKSPACE_LEFT",
  "CONTEXT_UNAVAILABLE",
])

const recordObstacle = (session: SessionHandle, failure: Failure): Effect.Effect<void, Failure> =>
  OBSTACLES.has(failure.code) ? session.append([executionFailed(failure)]) : Effect.void

const executionFailed = (failure: Failure): DurableEvent => ({
  type: "session.next.execution.failed.1",
  data: { error: { code: failure.code, message: failure.message } },
})
