/**
 * The folded sessions of this process, and the only way to write to them: decide on the folded state, append, and if
 * another process was faster, read its events and decide again. Sessions at work stay folded; of the idle ones, the last
 * few.
 */
import { Failure, type DurableEvent, type StoredEvent } from "@meridian/protocol"
import { Context, Effect, Layer, Semaphore } from "effect"

import { unreachable } from "../domain/assert.ts"
import { createEstimator, type Estimator } from "../domain/budget.ts"
import type { Claim } from "../domain/claims.ts"
import { LIMITS } from "../domain/limits.ts"
import type { LoggedEvent } from "../domain/logged-event.ts"
import { createLowering, type Lowering } from "../domain/lower.ts"
import { NOTHING_RESTORED, readRestoration, type Restoration } from "../domain/transcript/compactions.ts"
import { emptyTranscript, foldTranscript, type Transcript } from "../domain/transcript/transcript.ts"
import { Store } from "../port/store.ts"
import type { Appended, Decide, Destination, Written } from "./decision.ts"
import { decideTogether, joinDecision, takeAlike, type Member } from "./joint-decisions.ts"
import { createPreamble, type Preamble } from "./preamble.ts"
import { Signals } from "./signals.ts"

/** A transcript, and what has been computed from it so far. */
export interface History {
  /** The newest value. Each append makes the next one. */
  readonly transcript: Transcript
  readonly lowering: Lowering
  readonly estimator: Estimator
  readonly preamble: Preamble
}

/** An event of the decision claims a name that is already taken. */
export interface Taken {
  readonly _tag: "Taken"
  readonly claim: Claim
}

export class FoldedSessions extends Context.Service<
  FoldedSessions,
  {
    /** Fails when the session does not exist. For readers, which then need not fold a session of any size. */
    readonly exists: (session: string) => Effect.Effect<void, Failure>
    /** As this process last knew it. For the middle of a turn, whose beginning has read the log. */
    readonly known: (session: string) => Effect.Effect<History, Failure>
    /** Includes what other processes have appended until now. */
    readonly current: (session: string) => Effect.Effect<History, Failure>
    /** Creates the session when it does not exist. */
    readonly create: <A>(to: Destination, decide: Decide<A>) => Effect.Effect<A, Failure>
    /** Completes when the decision is as durable as requested. */
    readonly write: <A>(to: Destination, decide: Decide<A>) => Effect.Effect<A, Failure>
    /** Like `write`, but does not wait until it is safe. */
    readonly intend: <A>(to: Destination, decide: Decide<A>) => Effect.Effect<Written<A>, Failure>
    /** Like `intend`, for a decision with names that a caller has chosen. */
    readonly claim: <A>(to: Destination, decide: Decide<A>) => Effect.Effect<Written<A>, Failure | Taken>
    /** Drops a deleted session. */
    readonly forget: (session: string) => Effect.Effect<void>
    /** Keeps the session folded while `use` runs. The value is always the newest known. */
    readonly keep: <A, E, R>(
      session: string,
      use: (history: () => History) => Effect.Effect<A, E, R>,
    ) => Effect.Effect<A, E | Failure, R>
  }
>()("meridian/FoldedSessions") {
  static readonly layer: Layer.Layer<FoldedSessions, never, Store | Signals> = Layer.effect(
    FoldedSessions,
    Effect.suspend(() => makeFoldedSessions),
  )
}

interface Asked<A, E> {
  readonly decide: Decide<A>
  /** What to do when a name in the decision is already taken. */
  readonly onTaken: (claim: Claim) => Effect.Effect<never, E>
  /** The session need not exist. */
  readonly creates: boolean
}

interface Folded {
  readonly session: string
  history: History
  /** How many appends are under way or wait for their turn. */
  appends: number
  /** Those among them that can be stored with another one. */
  readonly waiting: Member[]
  /** One append at a time: the second sees the first. */
  readonly turn: Semaphore.Semaphore
  /** How many drains and writers need it folded. */
  users: number
}

/** How often a decision is repeated before we give up. Each repeat means that another process was faster. */
const MOST_DECISIONS = 100

const makeFoldedSessions = Effect.gen(function* () {
  const store = yield* Store
  const signals = yield* Signals
  /** Insertion order is order of use: the first entry was used longest ago. */
  const folded = new Map<string, Folded>()

  const entryOf = (session: string): Folded => {
    const found = folded.get(session)
    if (found !== undefined) {
      folded.delete(session)
      folded.set(session, found)
      return found
    }
    const entry = {
      session,
      history: openHistory(NOTHING_RESTORED),
      appends: 0,
      waiting: [],
      turn: Semaphore.makeUnsafe(1),
      users: 0,
    }
    folded.set(session, entry)
    evict(folded, entry)
    return entry
  }

  /** The history, extended by everything appended since. */
  const readOn = (session: string, history: History): Effect.Effect<History, Failure> =>
    Effect.gen(function* () {
      for (let read = history; ;) {
        const after = read.transcript.seq
        const page = yield* store.events({ session, after, limit: LIMITS.eventsPerPage })
        read = foldInto(read, page)
        if (page.length < LIMITS.eventsPerPage) return read
      }
    })

  /** Others may read or append at the same time. What is known never gets older. */
  const catchUp = (entry: Folded): Effect.Effect<void, Failure> =>
    Effect.gen(function* () {
      const read = yield* readOn(entry.session, entry.history)
      if (seqOf(read) > seqOf(entry.history)) entry.history = read
      if (isOutdated(entry)) yield* foldAgain(entry)
    })

  /** A restore brings back what the fold has dropped. So fold again, without the compactions that were taken back. */
  const foldAgain = (entry: Folded): Effect.Effect<void, Failure> =>
    Effect.gen(function* () {
      while (isOutdated(entry)) {
        const restoration = readRestoration(yield* store.compactions(entry.session))
        let fresh = yield* readOn(entry.session, openHistory(restoration))
        while (seqOf(fresh) < seqOf(entry.history)) fresh = yield* readOn(entry.session, fresh)
        entry.history = fresh
      }
    })

  const load = (entry: Folded): Effect.Effect<void, Failure> =>
    Effect.flatMap(catchUp(entry), () => {
      if (seqOf(entry.history) > 0) return Effect.void
      folded.delete(entry.session)
      return Effect.fail(notFound(entry.session))
    })

  const exists = (session: string): Effect.Effect<void, Failure> =>
    Effect.suspend(() => {
      const entry = folded.get(session)
      if (entry !== undefined && isKnown(entry)) return Effect.void
      return Effect.flatMap(store.session(session), (summary) =>
        summary === undefined ? Effect.fail(notFound(session)) : Effect.void,
      )
    })

  const current = (session: string): Effect.Effect<History, Failure> =>
    Effect.suspend(() => {
      const entry = entryOf(session)
      return Effect.map(load(entry), () => entry.history)
    })

  const known = (session: string): Effect.Effect<History, Failure> =>
    Effect.suspend(() => {
      const entry = entryOf(session)
      return isKnown(entry) ? Effect.succeed(entry.history) : current(session)
    })

  const decideAndAppend = <A, E>(
    entry: Folded,
    to: Destination,
    asked: Asked<A, E>,
    made = 1,
  ): Effect.Effect<Appended<A>, Failure | E> =>
    Effect.suspend(() => {
      const { session, fence, durability } = to
      const { transcript } = entry.history
      const after = transcript.seq
      const decision = asked.decide(transcript)
      const events = decision.kind === "append" ? decision.events : []
      const time = store.now()
      const append = {
        session,
        after,
        time,
        events,
        durability: decision.kind === "append" ? durability : "progress",
        ...(fence === undefined ? {} : { fence }),
      }
      return Effect.flatMap(store.append(append), (appended) => {
        switch (appended.kind) {
          case "committed": {
            if (decision.kind === "refuse") return Effect.fail(decision.failure)
            const stored = numbered(events, after, time)
            entry.history = foldInto(entry.history, stored)
            const written = { answer: decision.answer(stored), safe: appended.safe, isNew: stored.length > 0 }
            return isOutdated(entry) ? Effect.as(foldAgain(entry), written) : Effect.succeed(written)
          }
          case "moved":
            return made === MOST_DECISIONS
              ? Effect.fail(new Failure("DATABASE_BUSY", { file: store.name }))
              : Effect.andThen(readForeign(entry, after), decideAndAppend(entry, to, asked, made + 1))
          case "fenced":
            return Effect.fail(new Failure("FENCED", { session }))
          case "taken":
            return asked.onTaken(appended.claim)
          default:
            return unreachable(appended)
        }
      })
    })

  /** Another process was faster. */
  const readForeign = (entry: Folded, after: number): Effect.Effect<void, Failure> =>
    Effect.flatMap(catchUp(entry), () => {
      if (seqOf(entry.history) === after) return requireThere(entry.session)
      signals.tellForeign(entry.session)
      return Effect.void
    })

  /** The store says moved, but there was nothing new to read. The session may no longer exist. */
  const requireThere = (session: string): Effect.Effect<void, Failure> =>
    Effect.flatMap(store.session(session), (found) => {
      if (found !== undefined) return Effect.void
      folded.delete(session)
      return Effect.fail(new Failure("SESSION_NOT_FOUND", { session }))
    })

  /** One after the other. */
  const inTurn = <A, E>(entry: Folded, appending: Effect.Effect<A, E>): Effect.Effect<A, E> => {
    entry.appends += 1
    return Effect.onExitPrimitive(using(entry, entry.turn.withPermit(appending)), () => {
      entry.appends -= 1
      return undefined
    })
  }

  /** Keeps the entry folded while `use` runs. */
  const using = <A, E, R>(entry: Folded, use: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    entry.users += 1
    return Effect.onExitPrimitive(use, () => {
      entry.users -= 1
      return undefined
    })
  }

  /** Uninterruptible, so that what is stored is also folded in. */
  const append = <A, E>(to: Destination, asked: Asked<A, E>): Effect.Effect<Appended<A>, Failure | E> =>
    Effect.uninterruptible(
      Effect.suspend(() => {
        const entry = entryOf(to.session)
        const ready = asked.creates || isKnown(entry)
        const alone = Effect.suspend(() => decideAndAppend(entry, to, asked))
        return inTurn(entry, ready ? alone : Effect.andThen(load(entry), alone))
      }),
    )

  /** The same, together with the decisions that wait beside it. */
  const appendJointly = <A>(to: Destination, asked: Asked<A, never>): Effect.Effect<Appended<A>, Failure> =>
    Effect.uninterruptible(
      Effect.suspend(() => {
        const entry = entryOf(to.session)
        const { isPatient = false } = to
        if (!isKnown(entry) || (entry.appends === 0 && !isPatient)) return append(to, asked)
        const { member, outcome } = joinDecision(to, asked.decide)
        entry.waiting.push(member)
        const next = Effect.suspend(() => {
          const alike = outcome() === undefined ? takeAlike(entry.waiting, member) : []
          // Whatever does not go well together is done, and told, one by one.
          const together = alike.length > 1 && isKnown(entry) ? storeTogether(entry, alike) : Effect.void
          return Effect.flatMap(together, () => outcome() ?? decideAndAppend(entry, to, asked))
        })
        return inTurn(entry, isPatient ? Effect.andThen(Effect.yieldNow, next) : next)
      }),
    )

  const storeTogether = (entry: Folded, members: readonly Member[]): Effect.Effect<void, Failure> =>
    Effect.suspend(() => {
      const [first] = members
      if (first === undefined) return Effect.void
      const { session, fence, durability } = first.to
      const { transcript } = entry.history
      const after = transcript.seq
      const time = store.now()
      const joint = decideTogether(members, transcript, (events, from) => numbered(events, from, time))
      const { events } = joint
      if (events.length === 0) return Effect.void
      const fenced = fence === undefined ? {} : { fence }
      const appending = Effect.onError(
        store.append({ session, after, time, events, durability, ...fenced }),
        (cause) => Effect.sync(() => members.forEach(({ failed }) => failed(cause))),
      )
      return Effect.flatMap(appending, (appended) => {
        if (appended.kind !== "committed") return Effect.void
        if (seqOf(entry.history) < joint.transcript.seq)
          entry.history = { ...entry.history, transcript: joint.transcript }
        joint.stored(appended.safe)
        return isOutdated(entry) ? foldAgain(entry) : Effect.void
      })
    })

  const tell = (session: string, { isNew }: Appended<unknown>): void => {
    if (isNew) signals.tell(session)
  }

  const atOnce = <A, E>(to: Destination, asked: Asked<A, E>): Effect.Effect<Written<A>, Failure | E> =>
    Effect.map(append(to, asked), (written) => {
      tell(to.session, written)
      return written
    })

  /** Signals watchers only when the append is safe. Otherwise they could act on it before the caller has its answer. */
  const untilSafe = <A>(to: Destination, asked: Asked<A, never>): Effect.Effect<A, Failure> =>
    Effect.uninterruptible(
      Effect.flatMap(asked.creates ? append(to, asked) : appendJointly(to, asked), (written) =>
        Effect.onExitPrimitive(Effect.as(written.safe, written.answer), () => {
          tell(to.session, written)
          return undefined
        }),
      ),
    )

  return FoldedSessions.of({
    exists,
    forget: (session) =>
      Effect.sync(() => {
        folded.delete(session)
        signals.tell(session)
      }),
    known,
    current,
    claim: (to, decide) => atOnce(to, { decide, onTaken: failTaken, creates: false }),
    intend: (to, decide) => atOnce(to, { decide, onTaken: neverTaken, creates: false }),
    write: (to, decide) => untilSafe(to, { decide, onTaken: neverTaken, creates: false }),
    create: (to, decide) => untilSafe(to, { decide, onTaken: neverTaken, creates: true }),
    keep: (session, use) =>
      Effect.suspend(() => {
        const entry = entryOf(session)
        const history = (): History => entry.history
        return using(entry, isKnown(entry) ? use(history) : Effect.flatMap(load(entry), () => use(history)))
      }),
  })
})

const notFound = (session: string): Failure => new Failure("SESSION_NOT_FOUND", { session })

const failTaken = (claim: Claim): Effect.Effect<never, Taken> => Effect.fail({ _tag: "Taken", claim })

/** Names that were generated for this cannot be taken. */
const neverTaken = ({ kind, id }: Claim): Effect.Effect<never> =>
  Effect.die(new Error(`the ${kind} id ${id} was made for this and is taken`))

const numbered = (events: readonly DurableEvent[], after: number, time: number): readonly StoredEvent[] =>
  events.map(({ type, data }, index) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same event with the two fields it now has
    return { type, data, seq: after + index + 1, time } as StoredEvent
  })

const openHistory = (restoration: Restoration): History => ({
  transcript: emptyTranscript(restoration),
  lowering: createLowering(),
  estimator: createEstimator(),
  preamble: createPreamble(),
})

const seqOf = ({ transcript }: History): number => transcript.seq

const isOutdated = ({ history }: Folded): boolean => history.transcript.compactions.outdated

const isKnown = (entry: Folded): boolean => seqOf(entry.history) > 0 && !isOutdated(entry)

/** Skips events that are already folded in. */
const foldInto = (history: History, events: readonly LoggedEvent[]): History => {
  const after = seqOf(history)
  const next = events[0]?.seq === after + 1 ? events : events.filter(({ seq }) => seq > after)
  return next.length === 0 ? history : { ...history, transcript: foldTranscript(history.transcript, next) }
}

/** Drops the sessions used longest ago, except those in use. */
const evict = (folded: Map<string, Folded>, newest: Folded): void => {
  const weightOf = ({ history }: Folded): number => history.transcript.conversation.weight
  let weight = 0
  for (const entry of folded.values()) weight += weightOf(entry)
  for (const [session, entry] of folded) {
    if (folded.size <= LIMITS.idleHistories && weight <= LIMITS.idleHistoryBytes) return
    if (entry.users > 0 || entry === newest) continue
    weight -= weightOf(entry)
    folded.delete(session)
  }
}
