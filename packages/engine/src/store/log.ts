/**
 * Appending. One transaction checks the fence, numbers the events, writes them, applies their projections and moves the
 * session's sequence; readers see all of it or nothing.
 */
import { Failure, type DurableEvent, type StoredEvent } from "@meridian/protocol"

import { assert } from "../domain/assert.ts"
import type { Database, Durability } from "./database.ts"
import { createGroupCommit, type Write } from "./group-commit.ts"
import { createProjector, type Projector } from "./projector.ts"
import { NEXT_KEY, positionOf } from "./schema.ts"

/** What every write and every boundary must know of a session. */
export interface SessionHead {
  readonly key: number
  readonly id: string
  readonly seq: number
  readonly directory: string
  readonly interruptSeq: number
}

export interface SessionRow extends SessionHead {
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly title: string | undefined
  readonly created: number
  readonly updated: number
  readonly openStep: number | undefined
  readonly failedSeq: number | undefined
  readonly todoSeq: number | undefined
  readonly usage: {
    readonly input: number
    readonly output: number
    readonly reasoning: number
    readonly cacheRead: number
    readonly cacheWrite: number
  }
  readonly cost: number
}

/** The right to write a session's own progress: granted by a lease, refused as soon as a newer one exists. */
export interface Fence {
  readonly key: number
  readonly number: number
}

/** What a decision inside a transaction may look at and do. */
export interface Writing {
  readonly session: SessionHead
  /** Numbers and stores the events; the sequence moves with the commit. */
  readonly append: (events: readonly DurableEvent[]) => readonly StoredEvent[]
}

export interface WriteOptions {
  readonly sessionID: string
  readonly durability: Durability
  /** Required for everything a drain does; admissions, replies and switches come from anyone. */
  readonly fence?: Fence
}

/** Under whose fence a drain writes. */
export type DrainWrite = Pick<WriteOptions, "sessionID"> & { readonly fence: Fence }

export interface Log {
  readonly find: (sessionID: string) => SessionRow | undefined
  /** Like `find`, but a missing session is a failure. */
  readonly get: (sessionID: string) => SessionRow
  /** The few columns that are needed again and again. */
  readonly findHead: (sessionID: string) => SessionHead | undefined
  readonly head: (sessionID: string) => SessionHead
  readonly write: <A>(options: WriteOptions, decide: (writing: Writing) => A) => A
  /** What a drain records of its own progress: always under its fence. */
  readonly append: (drain: DrainWrite, events: readonly DurableEvent[]) => void
  /** As `write` and as `append`, in one transaction with what other sessions write in this turn of the event loop. */
  readonly writeSoon: <A>(drain: DrainWrite, decide: (writing: Writing) => A) => A | Promise<A>
  readonly appendSoon: (drain: DrainWrite, events: readonly DurableEvent[]) => void | Promise<void>
  readonly create: (
    sessionID: string,
    event: DurableEvent,
  ) => { readonly row: SessionRow; readonly created: boolean }
  /** Called after each commit of this process that appended something. */
  readonly onCommit: (listener: (sessionID: string, events: readonly StoredEvent[]) => void) => () => void
  /** Tells those who listen; for commits that were made elsewhere in this process. */
  readonly announce: (sessionID: string, events: readonly StoredEvent[]) => void
  readonly projector: Projector
}

export const createLog = (options: {
  readonly database: Database
  readonly now: () => number
  /** At most one session is at work here. */
  readonly isAlone: () => boolean
}): Log => {
  const { database, now } = options
  const { raw } = database
  const projector = createProjector(raw)
  const group = createGroupCommit(options)
  const listeners = new Set<(sessionID: string, events: readonly StoredEvent[]) => void>()
  const selectSession = raw.prepare("select * from session where id = ?")
  const selectHead = raw.prepare("select key, seq, directory, interrupt_seq from session where id = ?")
  const insertEvent = raw.prepare("insert into event (id, type, time, data) values (?, ?, ?, ?)")
  const moveSequence = raw.prepare("update session set seq = ?, updated = ? where key = ?")
  const selectFenced = raw.prepare(
    `select key, seq, directory, interrupt_seq, lease.fence from session
     left join lease on lease.session = session.key where session.id = ?`,
  )
  const nextKey = raw.prepare(NEXT_KEY)

  const find: Log["find"] = (sessionID) => {
    const row = selectSession.get(sessionID)
    return row === undefined ? undefined : sessionRow(row)
  }

  const get: Log["get"] = (sessionID) => {
    const row = find(sessionID)
    if (row === undefined) throw new Failure("SESSION_NOT_FOUND", { session: sessionID })
    return row
  }

  const findHead: Log["findHead"] = (sessionID) => {
    const row = selectHead.get(sessionID)
    return row === undefined ? undefined : headOf(sessionID, row)
  }

  const head: Log["head"] = (sessionID) => {
    const found = findHead(sessionID)
    if (found === undefined) throw new Failure("SESSION_NOT_FOUND", { session: sessionID })
    return found
  }

  const fencedHead = (sessionID: string, fence: Fence): SessionHead => {
    const row = selectFenced.get(sessionID)
    if (row === undefined) throw new Failure("SESSION_NOT_FOUND", { session: sessionID })
    assert(fence.key === row["key"], "a fence is used for its own session")
    if (row["fence"] !== fence.number) throw new Failure("FENCED", { session: sessionID })
    return headOf(sessionID, row)
  }

  const store = (key: number, after: number, events: readonly DurableEvent[]): readonly StoredEvent[] => {
    const time = now()
    return events.map((event, index) => {
      const seq = after + index + 1
      insertEvent.run(positionOf(key, seq), event.type, time, JSON.stringify(event.data))
      const stored: StoredEvent = { ...event, seq, time }
      projector.project(key, stored)
      return stored
    })
  }

  const announce = (sessionID: string, events: readonly StoredEvent[]): void => {
    for (const listener of listeners) listener(sessionID, events)
  }

  const prepareWrite = <A>(
    { sessionID, fence }: { readonly sessionID: string; readonly fence: Fence | undefined },
    decide: (writing: Writing) => A,
  ): Write<A> => {
    let written: StoredEvent[] = []
    return {
      sessionID,
      body: () => {
        written = []
        const session = fence === undefined ? head(sessionID) : fencedHead(sessionID, fence)
        const append: Writing["append"] = (events) => {
          const stored = store(session.key, session.seq + written.length, events)
          written.push(...stored)
          return stored
        }
        const decided = decide({ session, append })
        const last = written.at(-1)
        if (last !== undefined) moveSequence.run(last.seq, last.time, session.key)
        return decided
      },
      committed: () => {
        if (written.length > 0) announce(sessionID, written)
      },
    }
  }

  const write: Log["write"] = ({ sessionID, durability, fence }, decide) => {
    group.settle(sessionID)
    const { body, committed } = prepareWrite({ sessionID, fence }, decide)
    const result = database.transact(durability, body)
    committed()
    return result
  }

  const append: Log["append"] = ({ sessionID, fence }, events) => {
    write({ sessionID, durability: "NORMAL", fence }, (writing) => writing.append(events))
  }

  const writeSoon: Log["writeSoon"] = (drain, decide) => group.join(prepareWrite(drain, decide))

  const appendSoon: Log["appendSoon"] = (drain, events) =>
    writeSoon(drain, (writing) => {
      writing.append(events)
    })

  const create: Log["create"] = (sessionID, event) => {
    const written: StoredEvent[] = []
    const result = database.transact("FULL", () => {
      const existing = find(sessionID)
      if (existing !== undefined) return { row: existing, created: false }
      const key = Number(nextKey.get()?.["key"])
      written.push(...store(key, 0, [event]))
      const first = written[0]
      assert(first !== undefined, "creation is an event")
      moveSequence.run(first.seq, first.time, key)
      return { row: get(sessionID), created: true }
    })
    if (written.length > 0) announce(sessionID, written)
    return result
  }

  const onCommit: Log["onCommit"] = (listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  return {
    find,
    get,
    findHead,
    head,
    write,
    append,
    writeSoon,
    appendSoon,
    create,
    onCommit,
    announce,
    projector,
  }
}

const optional = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)
const optionalNumber = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

const headOf = (id: string, row: Readonly<Record<string, unknown>>): SessionHead => ({
  id,
  key: Number(row["key"]),
  seq: Number(row["seq"]),
  directory: String(row["directory"]),
  interruptSeq: Number(row["interrupt_seq"]),
})

export const sessionRow = (row: Readonly<Record<string, unknown>>): SessionRow => ({
  key: Number(row["key"]),
  id: String(row["id"]),
  seq: Number(row["seq"]),
  directory: String(row["directory"]),
  agent: optional(row["agent"]),
  model: optional(row["model"]),
  title: optional(row["title"]),
  created: Number(row["created"]),
  updated: Number(row["updated"]),
  interruptSeq: Number(row["interrupt_seq"]),
  openStep: optionalNumber(row["open_step"]),
  failedSeq: optionalNumber(row["failed_seq"]),
  todoSeq: optionalNumber(row["todo_seq"]),
  usage: {
    input: Number(row["input_tokens"]),
    output: Number(row["output_tokens"]),
    reasoning: Number(row["reasoning_tokens"]),
    cacheRead: Number(row["cache_read_tokens"]),
    cacheWrite: Number(row["cache_write_tokens"]),
  },
  cost: Number(row["cost"]),
})
