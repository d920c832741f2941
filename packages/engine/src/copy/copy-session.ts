/**
 * Copies a session, event for event, into another store: into a cluster, out of it, or into an archive file. The copy stays
 * invisible until it is complete. An older copy is brought up to date; a copy that has continued on its own is left alone.
 *
 * A move deletes the source only while no process works on either session, and only when the copy has its last event.
 */
import { existsSync } from "node:fs"
import { copyFile, mkdir } from "node:fs/promises"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"

import { Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { unreachable } from "../domain/assert.ts"
import type { DatedEvent } from "../domain/fork.ts"
import { LIMITS } from "../domain/limits.ts"
import type { LoggedEvent } from "../domain/logged-event.ts"
import type { OutputVerbs } from "../port/kept-outputs.ts"
import type { Creation, Fence, StoreVerbs } from "../port/store.ts"

/** `there`: the session had already been copied completely. */
export type Copied = "copied" | "there"

interface Copy {
  readonly from: StoreVerbs
  readonly to: StoreVerbs
  readonly outputs: { readonly from: OutputVerbs; readonly to: OutputVerbs }
  readonly session: string
}

export const copySession = (copy: Copy): Effect.Effect<Copied, Failure> =>
  Effect.flatMap(requireFree(copy), () => Effect.map(bringUpToDate(copy), ({ outcome }) => outcome))

/** Other processes that have the source open notice at their next look that it is gone. */
export const moveSession = (copy: Copy): Effect.Effect<Copied, Failure> =>
  Effect.gen(function* () {
    const { from, to, session } = copy
    yield* requireFree(copy)
    return yield* withLease(from, session, (fence) =>
      Effect.gen(function* () {
        const { outcome, seq } = yield* bringUpToDate(copy)
        // No process may continue the copy before the source is gone.
        yield* withLease(to, session, (over) => removeSource(copy, { fence, over, seq }))
        return outcome
      }),
    )
  })

const removeSource = (
  copy: Copy,
  standing: { readonly fence: Fence; readonly over: Fence; readonly seq: number },
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { from, session } = copy
    for (let { seq } = standing, tries = 0; tries < MOST_TRIES; tries += 1) {
      const removed = yield* from.remove(session, { fence: standing.fence, seq })
      if (removed === "removed") return
      if (removed !== "moved") break
      // Inputs that people sent during the copy belong to the session, too.
      const through = (yield* from.session(session))?.seq ?? seq
      yield* copyRest(copy, { after: seq, through }, standing.over)
      seq = through
    }
    return yield* Effect.fail(inUse(session))
  })

/** Each repeat means that somebody sent something while earlier input was being copied. */
const MOST_TRIES = 20

const requireFree = ({ from, session }: Copy): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const source = yield* from.session(session)
    if (source === undefined) return yield* Effect.fail(new Failure("SESSION_NOT_FOUND", { session }))
    if (source.isHeldElsewhere) return yield* Effect.fail(inUse(session))
  })

interface Brought {
  readonly outcome: Copied
  /** The sequence of the last event that both have. */
  readonly seq: number
}

const bringUpToDate = (copy: Copy): Effect.Effect<Brought, Failure> =>
  Effect.gen(function* () {
    const { from, to, session } = copy
    const [source, found] = [yield* from.session(session), yield* to.session(session)]
    if (source === undefined) return yield* Effect.fail(new Failure("SESSION_NOT_FOUND", { session }))
    const { seq } = source
    if (found === undefined) yield* copyWhole(copy, seq)
    else if (found.seq > seq || !(yield* isPrefix(copy, found.seq)))
      return yield* Effect.fail(exists(session))
    else if (found.seq === seq) return { outcome: "there", seq }
    else yield* withLease(to, session, (fence) => copyRest(copy, { after: found.seq, through: seq }, fence))
    return { outcome: "copied", seq }
  })

/** Whether both have the same events up to there. */
const isPrefix = ({ from, to, session }: Copy, through: number): Effect.Effect<boolean, Failure> =>
  Effect.gen(function* () {
    for (let after = 0; after < through;) {
      const range = { session, after, limit: Math.min(LIMITS.eventsPerPage, through - after) }
      const [ours, theirs] = [yield* from.events(range), yield* to.events(range)]
      if (ours.length !== range.limit || !isDeepStrictEqual(ours, theirs)) return false
      after += range.limit
    }
    return true
  })

const copyWhole = (copy: Copy, through: number): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { from, to, session } = copy
      const [first] = yield* from.events({ session, after: 0, limit: 1 })
      const draft = yield* to.draft(yield* creationOf(from, session, first))
      yield* eachPage(copy, { after: 1, through }, draft.append)
      if ((yield* draft.publish) === "taken") yield* Effect.fail(exists(session))
    }),
  )

const creationOf = (
  from: StoreVerbs,
  session: string,
  first: LoggedEvent | undefined,
): Effect.Effect<Creation, Failure> =>
  first?.type === "session.next.created.1"
    ? Effect.succeed({ type: first.type, time: first.time, data: first.data })
    : Effect.fail(unreadable(from, session))

interface Range {
  readonly after: number
  readonly through: number
}

const copyRest = (copy: Copy, range: Range, fence: Fence): Effect.Effect<void, Failure> => {
  let { after } = range
  return eachPage(copy, range, (events) =>
    Effect.forEach(
      byTime(events),
      (stretch) =>
        Effect.suspend(() => appendAt({ ...copy, fence, after, events: stretch })).pipe(
          Effect.tap(() => Effect.sync(() => (after += stretch.length))),
        ),
      { discard: true },
    ),
  )
}

const appendAt = (options: {
  readonly to: StoreVerbs
  readonly session: string
  readonly fence: Fence
  readonly after: number
  readonly events: readonly DatedEvent[]
}): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { to, session, fence, after, events } = options
    const time = events[0]?.time ?? 0
    const appended = yield* to.append({ session, fence, after, time, events, durability: "acknowledged" })
    switch (appended.kind) {
      case "committed":
        return yield* appended.safe
      case "moved":
      case "taken":
        return yield* Effect.fail(exists(session))
      case "fenced":
        return yield* Effect.fail(new Failure("FENCED", { session }))
      default:
        return unreachable(appended)
    }
  })

/** All events of an append have the same time. */
const byTime = (events: readonly DatedEvent[]): readonly (readonly DatedEvent[])[] => {
  const stretches: DatedEvent[][] = []
  for (const event of events) {
    const last = stretches.at(-1)
    if (last?.[0]?.time === event.time) last.push(event)
    else stretches.push([event])
  }
  return stretches
}

const withLease = <A>(
  store: StoreVerbs,
  session: string,
  use: (fence: Fence) => Effect.Effect<A, Failure>,
): Effect.Effect<A, Failure> =>
  Effect.acquireUseRelease(
    store.leases.acquire(session),
    (lease) => (lease.kind !== "acquired" ? Effect.fail(inUse(session)) : use(lease.fence)),
    (lease) => (lease.kind !== "acquired" ? Effect.void : store.leases.release(lease.fence)),
  )

/** Event by event, with the full texts that the events refer to. */
const eachPage = (
  copy: Copy,
  range: Range,
  take: (events: readonly DatedEvent[]) => Effect.Effect<void, Failure>,
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { from, session } = copy
    for (let { after } = range; after < range.through;) {
      const limit = Math.min(LIMITS.eventsPerPage, range.through - after)
      const page = yield* from.events({ session, after, limit })
      const events = page.flatMap(datedEvent)
      // What this version cannot read, it cannot copy reliably.
      if (events.length < page.length || page.length === 0)
        return yield* Effect.fail(unreadable(from, session))
      yield* copyOutputs(copy, JSON.stringify(events))
      yield* take(events)
      after += page.length
    }
  })

const datedEvent = (event: LoggedEvent): readonly DatedEvent[] => {
  if (event.type === "unknown") return []
  const { seq: _seq, ...dated } = event
  return [dated]
}

/** The full texts that these events refer to. A text that is already gone is skipped. */
const copyOutputs = ({ outputs: { from, to } }: Copy, events: string): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    for (const name of new Set(events.match(/\btool_[0-9a-f]{24}\.txt\b/g))) {
      yield* from.fetch(name)
      const file = join(from.folder, name)
      if (!existsSync(file)) continue
      yield* Effect.promise(async () => {
        await mkdir(to.folder, { recursive: true, mode: 0o700 })
        await copyFile(file, join(to.folder, name))
      })
      yield* to.keep(name)
    }
  })

const inUse = (session: string): Failure => new Failure("SESSION_IN_USE", { session })

const exists = (session: string): Failure => new Failure("SESSION_EXISTS", { session })

const unreadable = ({ name }: StoreVerbs, session: string): Failure =>
  new Failure("DATABASE_DAMAGED", { file: name, why: `an event of session ${session} cannot be read` })
