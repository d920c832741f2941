/**
 * The folded sessions of this process, and the one way to write to them: decide on what is folded, append behind it, and
 * when somebody else was faster read what they wrote and decide again. Sessions at work stay folded; of the idle ones the
 * last few do.
 */
import { Failure, type DurableEvent, type StoredEvent } from "@meridian/protocol"
import { Clock, Context, Effect, Layer, Semaphore } from "effect"

import { unreachable } from "../domain/assert.ts"
import { createEstimator, type Estimator } from "../domain/budget.ts"
import type { Claim } from "../domain/claims.ts"
import { LIMITS } from "../domain/limits.ts"
import type { LoggedEvent } from "../domain/logged-event.ts"
import { createLowering, type Lowering } from "../domain/lower.ts"
import { NOTHING_RESTORED, readRestoration, type Restoration } from "../domain/transcript/compactions.ts"
import { emptyTranscript, foldTranscript, type Transcript } from "../domain/transcript/transcript.ts"
import { Store, type Durability, type Fence } from "../port/store.ts"
import { createPreamble, type Preamble } from "./preamble.ts"
import { Signals } from "./signals.ts"

/** A transcript, and what was worked out from it so far. */
export interface History {
  /** The newest value; each append makes the next one. */
  readonly transcript: Transcript
  readonly lowering: Lowering
  readonly estimator: Estimator
  readonly preamble: Preamble
}

export interface Destination {
  readonly session: string
  readonly fence?: Fence
  readonly durability: Durability
}

/** What to append, and what to answer when that is stored. No events: only the answer, and it is true now. */
export type Decision<A> =
  | {
      readonly kind: "append"
      readonly events: readonly DurableEvent[]
      readonly answer: (stored: readonly StoredEvent[]) => A
    }
  | { readonly kind: "refuse"; readonly failure: Failure }

/** Pure. Made again when the session moved meanwhile. */
export type Decide<A> = (transcript: Transcript) => Decision<A>

/** Stored, and visible to everybody. `safe`: as durable as asked for. */
export interface Written<A> {
  readonly answer: A
  readonly safe: Effect.Effect<void, Failure>
}

/** An event of the decision brings a name that stands for something else. */
export interface Taken {
  readonly _tag: "Taken"
  readonly claim: Claim
}

export class FoldedSessions extends Context.Service<
  FoldedSessions,
  {
    /** Fails when there is no such session. Readers ask this: a session of any size need not be folded for them. */
    readonly exists: (session: string) => Effect.Effect<void, Failure>
    /** As this process last knew it: for the middle of a turn, whose beginning has asked. */
    readonly known: (session: string) => Effect.Effect<History, Failure>
    /** With what others have appended until now. */
    readonly current: (session: string) => Effect.Effect<History, Failure>
    /** Makes the session when it is not there. */
    readonly create: <A>(to: Destination, decide: Decide<A>) => Effect.Effect<A, Failure>
    /** Done when what was decided is as durable as asked for. */
    readonly write: <A>(to: Destination, decide: Decide<A>) => Effect.Effect<A, Failure>
    /** As `write`, not waiting until it is safe. */
    readonly intend: <A>(to: Destination, decide: Decide<A>) => Effect.Effect<Written<A>, Failure>
    /** As `intend`, for a decision that brings names a caller has chosen. */
    readonly claim: <A>(to: Destination, decide: Decide<A>) => Effect.Effect<Written<A>, Failure | Taken>
    /** Lets go of a session that was deleted. */
    readonly forget: (session: string) => Effect.Effect<void>
    /** Stays folded while it is used; the value is always the newest one known. */
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
  /** What to do when a name the decision brings stands for something else. */
  readonly onTaken: (claim: Claim) => Effect.Effect<never, E>
  /** The session need not be there. */
  readonly creates: boolean
}

interface Appended<A> extends Written<A> {
  /** Something was appended. */
  readonly isNew: boolean
}

interface Folded {
  readonly session: string
  history: History
  /** One append at a time: the second sees the first. */
  readonly turn: Semaphore.Semaphore
  /** Those who need it folded: drains, and whoever writes. */
  users: number
}

/** How often a decision is made again before we give up: each time means that another process was faster. */
const MOST_DECISIONS = 100

const makeFoldedSessions = Effect.gen(function* () {
  const store = yield* Store
  const signals = yield* Signals
  const clock = yield* Clock.Clock
  /** Insertion order is the order of use: the first is the one used longest ago. */
  const folded = new Map<string, Folded>()

  const entryOf = (session: string): Folded => {
    const found = folded.get(session)
    if (found !== undefined) {
      folded.delete(session)
      folded.set(session, found)
      return found
    }
    const entry = { session, history: openHistory(NOTHING_RESTORED), turn: Semaphore.makeUnsafe(1), users: 0 }
    folded.set(session, entry)
    evict(folded, entry)
    return entry
  }

  /** The history with everything that was appended behind it. */
  const readOn = (session: string, history: History): Effect.Effect<History, Failure> =>
    Effect.gen(function* () {
      for (let read = history; ;) {
        const after = read.transcript.seq
        const page = yield* store.events({ session, after, limit: LIMITS.eventsPerPage })
        read = foldInto(read, page)
        if (page.length < LIMITS.eventsPerPage) return read
      }
    })

  /** Others may read or append meanwhile: what is known never becomes older. */
  const catchUp = (entry: Folded): Effect.Effect<void, Failure> =>
    Effect.gen(function* () {
      const read = yield* readOn(entry.session, entry.history)
      if (seqOf(read) > seqOf(entry.history)) entry.history = read
      if (isOutdated(entry)) yield* foldAgain(entry)
    })

  /** A restore brings back what the fold has let go: it is made again, without the compactions taken back. */
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
      const time = clock.currentTimeMillisUnsafe()
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

  /** Somebody else was faster. */
  const readForeign = (entry: Folded, after: number): Effect.Effect<void, Failure> =>
    Effect.flatMap(catchUp(entry), () => {
      if (seqOf(entry.history) === after) return requireThere(entry.session)
      signals.tellForeign(entry.session)
      return Effect.void
    })

  /** Nothing new was there to read, and yet it moved: the session does not exist any more. */
  const requireThere = (session: string): Effect.Effect<void, Failure> =>
    Effect.flatMap(store.session(session), (found) => {
      if (found !== undefined) return Effect.void
      folded.delete(session)
      return Effect.fail(new Failure("SESSION_NOT_FOUND", { session }))
    })

  /** Stays folded while it is used. */
  const using = <A, E, R>(entry: Folded, use: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    entry.users += 1
    return Effect.onExitPrimitive(use, () => {
      entry.users -= 1
      return undefined
    })
  }

  /** What is stored is also folded in: nobody leaves between the two. */
  const append = <A, E>(to: Destination, asked: Asked<A, E>): Effect.Effect<Appended<A>, Failure | E> =>
    Effect.uninterruptible(
      Effect.suspend(() => {
        const entry = entryOf(to.session)
        const appending = decideAndAppend(entry, to, asked)
        const ready = asked.creates || isKnown(entry)
        return using(entry, entry.turn.withPermit(ready ? appending : Effect.andThen(load(entry), appending)))
      }),
    )

  const tell = (session: string, { isNew }: Appended<unknown>): void => {
    if (isNew) signals.tell(session)
  }

  const atOnce = <A, E>(to: Destination, asked: Asked<A, E>): Effect.Effect<Written<A>, Failure | E> =>
    Effect.map(append(to, asked), (written) => {
      tell(to.session, written)
      return written
    })

  /** Nobody is told of what is not safe yet: whoever acts on it would be faster than the answer. */
  const untilSafe = <A>(to: Destination, asked: Asked<A, never>): Effect.Effect<A, Failure> =>
    Effect.uninterruptible(
      Effect.flatMap(append(to, asked), (written) =>
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

/** Names that were made for the occasion are nobody else's. */
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

/** Skips what was folded in before. */
const foldInto = (history: History, events: readonly LoggedEvent[]): History => {
  const after = seqOf(history)
  const next = events[0]?.seq === after + 1 ? events : events.filter(({ seq }) => seq > after)
  return next.length === 0 ? history : { ...history, transcript: foldTranscript(history.transcript, next) }
}

/** Lets go of the sessions used longest ago, except those somebody needs. */
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
