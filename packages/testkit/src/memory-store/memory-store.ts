/**
 * A store in memory that is difficult on purpose: every answer comes late, answers to different requests come in any order,
 * hints get lost, and some verbs fail, before or after they did their work. Several clients share one database, as
 * processes share a server. Nothing here is fast and everything is simple, so that a fast store can be compared with it.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import {
  describeEvent,
  Ids,
  LIMITS,
  storeLayer,
  type Acquisition,
  type Change,
  type DatedEvent,
  type EventRange,
  type Fence,
  type GivenApproval,
  type KeptOutputs,
  type OpenedStore,
  type Placed,
  type Store,
  type StoreVerbs,
  type Stretch,
} from "@meridian/engine/store-port"
import { eventFrame, Failure, type StoredEvent } from "@meridian/protocol"
import { Clock, Effect, Queue, Stream, type Layer, type Scope } from "effect"

import {
  approvalsOf,
  isRunnable,
  isSameApproval,
  isWaiting,
  messagesOf,
  parkedUntil,
  questionsOf,
  receiptsOf,
  requestsOf,
  summaryOf,
} from "./derive.ts"
import type { MemoryDatabase, MemorySession, Owner } from "./memory-database.ts"

export { isRunnable, requestsOf } from "./derive.ts"
export { createMemoryDatabase, type MemoryDatabase } from "./memory-database.ts"

export interface MemoryStoreOptions {
  readonly database: MemoryDatabase
  readonly leaseMs: number
  /** In [0, 1). Decides delays, order, losses and failures. */
  readonly chance: () => number
  /** How often a verb fails, in [0, 1]. Half of the failed writes are stored first. */
  readonly failures?: () => number
  /** The longest delay of an answer in milliseconds. 0: it only waits for its turn. */
  readonly delayMs?: number
  /** Other clients know that this one is gone for good. */
  readonly isGone?: () => boolean
  /** Called before and after every change of the database. A test stops a process there. */
  readonly tap?: (point: string) => void
  /** Called with the number of events that each append has stored. */
  readonly wrote?: (events: number) => void
  /** How to run a loop that nothing waits for. */
  readonly inBackground?: <A>(loop: Effect.Effect<A>) => Effect.Effect<A>
}

export const memoryStore = (options: MemoryStoreOptions): Layer.Layer<Store | KeptOutputs, Failure, Ids> =>
  storeLayer(openMemoryStore(options))

const NAME = "memory"
const REST_MS = 50

export const openMemoryStore = (
  options: MemoryStoreOptions,
): Effect.Effect<OpenedStore, Failure, Ids | Scope.Scope> =>
  Effect.gen(function* () {
    const { database, leaseMs, chance, failures = () => 0, delayMs = 3, isGone = () => false, tap } = options
    const inBackground = options.inBackground ?? ((loop) => loop)
    const clock = yield* Clock.Clock
    const me = (yield* Ids).next("own_")
    const closed = { is: false }
    const owner: Owner = { id: me, beat: 0, isGone: () => closed.is || isGone() }
    database.owners.set(me, owner)
    const folder = yield* openFolder

    /** The way to the database and back: late, in any order, and sometimes lost. */
    const wayThere = Effect.suspend(() => {
      const wait = Math.floor(chance() * (delayMs + 1))
      return wait === 0 ? Effect.yieldNow : Effect.sleep(wait)
    })
    const trouble = (): Effect.Effect<void, Failure> =>
      chance() < failures() / 2 ? Effect.fail(new Failure("DATABASE_BUSY", { file: NAME })) : Effect.void

    const ask = <A>(body: () => A): Effect.Effect<A, Failure> =>
      Effect.suspend(() => {
        if (closed.is) return Effect.fail(new Failure("ENGINE_CLOSED"))
        return wayThere.pipe(
          Effect.andThen(Effect.suspend(trouble)),
          Effect.andThen(Effect.sync(body)),
          Effect.tap(wayThere),
        )
      })

    const tapped = <A>(body: () => A): Effect.Effect<A, Failure> =>
      ask(() => {
        tap?.("before")
        const answer = body()
        tap?.("after")
        return answer
      })

    /** May do the work and fail nevertheless: the answer got lost. */
    const change = <A>(body: () => A): Effect.Effect<A, Failure> =>
      Effect.tap(tapped(body), () => Effect.suspend(trouble))

    const eventsOf = (session: string): readonly StoredEvent[] => database.sessions.get(session)?.events ?? []
    const all = (): readonly MemorySession[] => [...database.sessions.values()]
    const seen = new Map<string, { readonly beat: number; readonly since: number }>()
    const now = (): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)

    const isLost = (id: string): boolean => {
      const other = database.owners.get(id)
      if (other === undefined || other.isGone()) return true
      const known = seen.get(id)
      if (known?.beat !== other.beat) {
        seen.set(id, { beat: other.beat, since: now() })
        return false
      }
      return now() - known.since >= leaseMs
    }
    const isHeldElsewhere = (id: string | undefined): boolean => id !== undefined && id !== me && !isLost(id)

    const resting = new Map<string, Fence>()
    const held = new Set<string>()
    const release = ({ session: id, number }: Fence): void => {
      held.delete(id)
      // A dead client releases nothing.
      if (owner.isGone()) return
      const session = database.sessions.get(id)
      if (session !== undefined && session.fence === number && session.owner === me) session.owner = undefined
    }
    const acquire = (id: string): Acquisition => {
      const rested = resting.get(id)
      resting.delete(id)
      const session = database.sessions.get(id)
      if (session === undefined) return { kind: "held" }
      const seq = session.events.length
      if (rested !== undefined && database.isCurrent(rested))
        return { kind: "acquired", fence: rested, abandoned: false, seq }
      if (rested !== undefined) held.delete(id)
      if (held.has(id) || isHeldElsewhere(session.owner)) return { kind: "held" }
      const abandoned = session.owner !== undefined && session.owner !== me
      session.fence += 1
      session.owner = me
      owner.beat += 1
      held.add(id)
      return { kind: "acquired", fence: { session: id, number: session.fence }, abandoned, seq }
    }
    const abandoned = (): readonly string[] =>
      all().flatMap(({ id, owner: by }) => (by !== undefined && by !== me && isLost(by) ? [id] : []))

    /** A dead client without leases is reported once: it may have acknowledged work that it did not begin. */
    const forgetGone = (): boolean => {
      const gone = [...database.owners.values()].filter((other) => other.id !== me && other.isGone())
      for (const { id } of gone) database.owners.delete(id)
      return gone.length > 0
    }

    const loop = (everyMs: number, body: () => void): Effect.Effect<never> =>
      inBackground(Effect.forever(Effect.sync(body).pipe(Effect.delay(everyMs))))
    yield* Effect.forkScoped(loop(Math.floor(leaseMs / 4), () => (owner.beat += 1)))
    yield* Effect.forkScoped(
      loop(REST_MS, () => {
        for (const fence of resting.values()) release(fence)
        resting.clear()
      }),
    )
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        // A dead process returns nothing, whatever its last fibers still try.
        if (owner.isGone()) return
        for (const session of all()) if (session.owner === me) session.owner = undefined
        database.owners.delete(me)
        closed.is = true
      }),
    )

    /** Each once, from the session that gave it first. */
    const given = (): readonly GivenApproval[] => {
      const found: GivenApproval[] = []
      for (const { id, events } of all())
        for (const approval of approvalsOf(id, events))
          if (!found.some((one) => isSameApproval(one, approval))) found.push(approval)
      return found.toSorted((left, right) => left.time - right.time)
    }

    const summaryAt = ({ id, place, events, owner: by }: MemorySession) => ({
      place,
      item: { ...summaryOf(id, events), isHeldElsewhere: isHeldElsewhere(by) },
    })

    const store: StoreVerbs = {
      name: NAME,
      identity: database.identity,
      isReachable: () => true,
      now: () => clock.currentTimeMillisUnsafe(),
      append: (append) =>
        change(() => {
          const answer = database.append(append)
          if (answer.kind === "committed" && append.events.length > 0) {
            options.wrote?.(append.events.length)
            database.tell(append.session, me)
          }
          return answer
        }).pipe(
          Effect.map((answer) => {
            if (answer.kind !== "committed") return answer
            // Catches a caller that does not wait for this.
            return {
              kind: "committed",
              safe: append.durability === "progress" ? Effect.void : ask(() => undefined),
            }
          }),
        ),
      session: (id) =>
        ask(() => {
          const session = database.sessions.get(id)
          return session === undefined ? undefined : summaryAt(session).item
        }),
      remove: (id, heldAt) =>
        change(() => {
          const session = database.sessions.get(id)
          if (session === undefined) return "missing"
          if (heldAt === undefined) {
            if (held.has(id) || isHeldElsewhere(session.owner)) return "held"
          } else if (!database.isCurrent(heldAt.fence)) return "held"
          else if (session.events.length !== heldAt.seq) return "moved"
          database.remove(id)
          database.tell(id, me)
          return "removed"
        }),
      sessions: (stretch) => ask(() => cut(all().map(summaryAt), stretch)),
      events: (range) => ask(() => pageOf(eventsOf(range.session), range)),
      eventFrames: (range) =>
        ask(() => {
          const page = pageOf(eventsOf(range.session), range)
          const [first] = page
          const last = page.at(-1)
          if (first === undefined || last === undefined) return undefined
          const frames = page.map((event) => eventFrame({ ...event, data: JSON.stringify(event.data) }))
          return {
            first: first.seq,
            last: last.seq,
            frames: Buffer.from(frames.join("")),
            more: last.seq < eventsOf(range.session).length,
          }
        }),
      compactions: (session) =>
        ask(() =>
          eventsOf(session).filter(
            ({ type }) => type.startsWith("session.next.compaction.") || type === "session.next.undo.ended.1",
          ),
        ),
      messages: (session, stretch) => ask(() => cut(messagesOf(session, eventsOf(session)), stretch)),
      message: (session, id) =>
        ask(() => messagesOf(session, eventsOf(session)).find(({ item }) => item?.id === id)?.item),
      inputs: (session, range) =>
        ask(() => {
          const waiting = receiptsOf(session, eventsOf(session)).filter(isWaiting)
          if (range === undefined) return waiting
          const behind = waiting.filter(({ admittedSeq }) => admittedSeq > range.after)
          return upTo(behind.slice(0, range.limit), range.bytes, ({ prompt }) => prompt)
        }),
      input: (id) =>
        ask(() =>
          all()
            .flatMap((session) => receiptsOf(session.id, session.events))
            .find((receipt) => receipt.id === id),
        ),
      search: (session, words) => ask(() => search(eventsOf(session), words)),
      requests: (session) =>
        ask(() =>
          all()
            .filter(({ id }) => session === undefined || id === session)
            .flatMap(({ id, events }) => requestsOf(id, events)),
        ),
      request: (id) =>
        ask(() =>
          all()
            .flatMap((session) => requestsOf(session.id, session.events))
            .find(({ event }) => event.data.requestID === id),
        ),
      questions: (session) =>
        ask(() =>
          all()
            .filter(({ id }) => session === undefined || id === session)
            .flatMap(({ id, events }) => questionsOf(id, events)),
        ),
      approvals: (project) =>
        ask(() =>
          given()
            .filter((approval) => approval.project === project)
            .map(({ action, resource }) => ({ action, resource })),
        ),
      givenApprovals: ask(given),
      approvedIn: (approval) =>
        ask(() =>
          all().flatMap(({ id, events }) =>
            approvalsOf(id, events).some((one) => isSameApproval(one, approval)) ? [id] : [],
          ),
        ),
      parked: ask(() =>
        all().flatMap(({ id, events }) => {
          const until = parkedUntil(events)
          return until === undefined ? [] : [{ session: id, until }]
        }),
      ),
      runnable: ask(() => all().flatMap(({ id, events }) => (isRunnable(id, events) ? [id] : []))),
      draft: (creation) =>
        Effect.sync(() => {
          const events: DatedEvent[] = [creation]
          return {
            name: database.nextName(),
            append: (more) => change(() => void events.push(...more)),
            publish: change(() => {
              const published = database.publish(creation.data.sessionID, events)
              if (published === "published") database.tell(creation.data.sessionID, me)
              return published
            }),
          }
        }),
      leases: {
        // A client that misses the answer would otherwise keep the lease for ever.
        acquire: (session) => tapped(() => acquire(session)),
        renew: (fence) => ask(() => (database.isCurrent(fence) ? "kept" : "lost")),
        rest: (fence) => Effect.sync(() => void resting.set(fence.session, fence)),
        release: (fence) => Effect.sync(() => release(fence)),
        isHeldElsewhere: (session) => ask(() => isHeldElsewhere(database.sessions.get(session)?.owner)),
        abandoned: ask(abandoned),
        works: true,
        retire: Effect.void,
        hasRoom: () => true,
        ask: () => Effect.void,
        asked: Stream.never,
        patienceMs: 0,
        proofs: Stream.never,
        lost: Stream.fromEffectRepeat(
          inBackground(
            Effect.delay(
              Effect.sync(() => forgetGone() || abandoned().length > 0),
              Math.max(50, Math.floor(leaseMs / 4)),
            ),
          ),
        ).pipe(
          Stream.filter((lost) => lost),
          Stream.map(() => undefined),
        ),
      },
      changes: Stream.callback<Change>((queue) =>
        Effect.acquireRelease(
          Effect.sync(() =>
            database.onChange((session, by) => {
              // A hint may be lost, and may not name its session.
              const luck = chance()
              if (by !== me && luck < 0.9)
                Queue.offerUnsafe(queue, { session: luck < 0.5 ? session : undefined })
            }),
          ),
          (leave) => Effect.sync(leave),
        ),
      ),
    }
    return {
      store,
      outputs: {
        folder,
        keep: (name) => change(() => void database.outputs.set(name, readFileSync(join(folder, name)))),
        fetch: (name) =>
          ask(() => {
            const kept = database.outputs.get(name)
            mkdirSync(folder, { recursive: true })
            if (kept !== undefined) writeFileSync(join(folder, name), kept)
          }),
      },
    }
  })

const pageOf = (
  events: readonly StoredEvent[],
  { after, limit, bytes }: EventRange,
): readonly StoredEvent[] =>
  upTo(events.slice(after, after + limit), bytes ?? Number.POSITIVE_INFINITY, ({ data }) => data)

/** The item with which the total reaches the size is the last. */
const upTo = <Item>(
  items: readonly Item[],
  bytes: number,
  partOf: (item: Item) => unknown,
): readonly Item[] => {
  let sum = 0
  const last = items.findIndex((item) => (sum += Buffer.byteLength(JSON.stringify(partOf(item)))) >= bytes)
  return last === -1 ? items : items.slice(0, last + 1)
}

const cut = <Item>(
  items: readonly Placed<Item>[],
  { direction, from, limit }: Stretch,
): readonly Placed<Item>[] => {
  const ordered = direction === "up" ? items : items.toReversed()
  const isBehind = (place: number): boolean =>
    from === undefined || (direction === "up" ? place > from : place < from)
  return ordered.filter(({ place }) => isBehind(place)).slice(0, limit)
}

const search = (events: readonly StoredEvent[], query: string) => {
  const words = (query.match(/[\p{L}\p{N}_]+/gu) ?? []).map((word) => word.toLowerCase())
  if (words.length === 0) return []
  const described = events.map((event) => ({ seq: event.seq, text: describeEvent(event) }))
  const has = (text: string, word: string): boolean =>
    new Set<string>(text.toLowerCase().match(/[\p{L}\p{N}_]+/gu)).has(word)
  const withAll = described.filter(({ text }) => words.every((word) => has(text, word)))
  const found =
    withAll.length > 0 ? withAll : described.filter(({ text }) => words.some((word) => has(text, word)))
  return found.slice(0, LIMITS.recallHits)
}

const openFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "meridian-memory-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
)
