/**
 * Compare and append. If fence and last event are what the writer believes, one transaction moves the session on, stores
 * the events with their sequences and derives their projections. Readers see all of it or nothing.
 */
import type { DurableEvent, Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { claimOf, type Claim } from "../../domain/claims.ts"
import { sayLeaseLost } from "../../port/say-aloud.ts"
import type { Append, Appended, StoreVerbs } from "../../port/store.ts"
import { makeCrowd } from "./crowd.ts"
import type { Database } from "./database.ts"
import type { EventReader } from "./events.ts"
import { createGroupCommit } from "./group-commit.ts"
import type { Projector } from "./projector.ts"
import { NEXT_KEY, positionOf } from "./schema.ts"

export interface AppendOptions {
  readonly database: Database
  readonly projector: Projector
  /** The session's key, as last known here. */
  readonly keyOf: EventReader["keyOf"]
  /** How many sessions are at work in this process. */
  readonly atWork: () => number
}

export const createAppend = ({ database, projector, keyOf, atWork }: AppendOptions): StoreVerbs["append"] => {
  const { raw } = database
  const group = createGroupCommit(database)
  const callers = makeCrowd()
  const selectHead = raw.prepare(
    `select key, seq, lease.fence from session left join lease on lease.session = session.key
     where session.id = ?`,
  )
  const nextKey = raw.prepare(NEXT_KEY)
  const insertEvent = raw.prepare("insert into event (id, type, time, data) values (?, ?, ?, ?)")
  // Compares the id too: another process may have deleted the session, and the key may belong to the next one.
  const moveOn = "update session set seq = ?, updated = ? where key = ? and id = ? and seq = ?"
  const move = raw.prepare(moveOn)
  const moveFenced = raw.prepare(
    `${moveOn} and exists (select 1 from lease where lease.session = session.key and fence = ?)`,
  )
  const findInput = raw.prepare(
    "select 1 from input where id = ?1 union all select 1 from message where id = ?1",
  )
  const findRequest = raw.prepare("select 1 from request where id = ?")

  const isTaken = ({ kind, id }: Claim): boolean =>
    (kind === "input" ? findInput : findRequest).get(id) !== undefined

  const findTaken = (events: readonly DurableEvent[]): Claim | undefined => {
    for (const event of events) {
      const claim = claimOf(event)
      if (claim !== undefined && isTaken(claim)) return claim
    }
    return undefined
  }

  /** Why nothing may be appended, or the key of the session, possibly a new one. */
  const compare = ({ session, fence, after, events }: Append): Refusal | number => {
    const head = selectHead.get(session)
    if (fence !== undefined && head?.["fence"] !== fence.number) {
      sayLeaseLost(fence)
      return { kind: "fenced" }
    }
    if ((head?.["seq"] ?? 0) !== after) return { kind: "moved" }
    if (head === undefined && !makesSession(events)) return { kind: "moved" }
    const claim = findTaken(events)
    if (claim !== undefined) return { kind: "taken", claim }
    return Number((head ?? nextKey.get())?.["key"])
  }

  /**
   * Moves the session on if it is where the writer believes, and returns its key. The comparison needs no extra statement.
   */
  const moveFrom = ({ session, fence, after, time, events }: Append): number | undefined => {
    const key = keyOf(session)
    if (key === undefined || findTaken(events) !== undefined) return undefined
    const to = [after + events.length, time, key, session, after] as const
    const { changes } = fence === undefined ? move.run(...to) : moveFenced.run(...to, fence.number)
    return changes === 0 ? undefined : key
  }

  /** Undefined when stored. */
  const store = (append: Append): Refusal | undefined => {
    const { session, after, time, events } = append
    const moved = moveFrom(append)
    const key = moved ?? compare(append)
    if (typeof key !== "number") return key
    for (const [index, event] of events.entries()) {
      const seq = after + index + 1
      insertEvent.run(positionOf(key, seq), event.type, time, JSON.stringify(event.data))
      projector.project(key, { ...event, seq, time })
    }
    if (moved === undefined) move.run(after + events.length, time, key, session, after)
    return undefined
  }

  const prove = (append: Append): Refusal | undefined => {
    const key = compare(append)
    return typeof key === "number" ? undefined : key
  }

  /** Others are likely to join the commit: several sessions are at work, or several callers wait for receipts. */
  const isShared = (append: Append): boolean => {
    const inCrowd = isFromCaller(append) && callers.join()
    return inCrowd || atWork() > 1
  }

  /**
   * Flushes in place when no other session could work in that time. A session that is about to act counts as at work
   * itself.
   */
  const flush = (append: Append): Effect.Effect<void, Failure> =>
    Effect.suspend(() => {
      const others = append.durability === "act" ? atWork() - 1 : atWork()
      return database.flush(others <= 0 && !bringsWork(append))
    })

  const committed = (append: Append): Appended => ({
    kind: "committed",
    safe: append.durability === "progress" ? Effect.void : flush(append),
  })

  return (append) =>
    Effect.suspend(() => {
      if (append.events.length === 0) return database.ask(() => prove(append) ?? committed(append))
      if (!isShared(append))
        return database.ask(() => database.transact(() => store(append)) ?? committed(append))
      return Effect.callback((resume) =>
        group.join(() => store(append), {
          committed: (refusal) => resume(Effect.succeed(refusal ?? committed(append))),
          failed: (cause) => resume(database.fail(cause)),
        }),
      )
    })
}

type Refusal = Exclude<Appended, { readonly kind: "committed" }>

/** A caller outside waits until it is safe, and no lease is involved. */
const isFromCaller = ({ durability, fence }: Append): boolean =>
  durability === "acknowledged" && fence === undefined

/** A drain will begin with it while the flush is under way. */
const bringsWork = ({ events }: Append): boolean =>
  events.some((event) => event.type === "session.next.prompt.admitted.1" && event.data.resume)

const makesSession = (events: readonly DurableEvent[]): boolean =>
  events[0]?.type === "session.next.created.1"
