/**
 * What the clients of a memory store share: the logs of all sessions, their owners, names in use, kept outputs. Every
 * change is one synchronous step, so it is atomic. Everything slow or unreliable happens between a client and this.
 */
import { randomUUID } from "node:crypto"

import { claimsOf, type Append, type Claim, type DatedEvent, type Fence } from "@meridian/engine/store-port"
import type { DurableEvent, StoredEvent } from "@meridian/protocol"

export interface MemorySession {
  readonly id: string
  /** The order of creation. */
  readonly place: number
  readonly events: StoredEvent[]
  fence: number
  owner: string | undefined
}

export interface Owner {
  readonly id: string
  beat: number
  /** Its process is certainly gone. */
  readonly isGone: () => boolean
}

export type Answer =
  | { readonly kind: "committed" }
  | { readonly kind: "moved" }
  | { readonly kind: "fenced" }
  | { readonly kind: "taken"; readonly claim: Claim }

export interface MemoryDatabase {
  readonly identity: string
  readonly sessions: ReadonlyMap<string, MemorySession>
  readonly owners: Map<string, Owner>
  readonly outputs: Map<string, Uint8Array>
  readonly append: (append: Omit<Append, "durability">) => Answer
  /** Makes a session from events that nobody has seen. */
  readonly publish: (id: string, events: readonly DatedEvent[]) => "published" | "taken"
  /** A later session with the same id begins with the next fence. */
  readonly remove: (id: string) => void
  readonly isCurrent: (fence: Fence) => boolean
  /** Called after each change, with the session and the client that made it. */
  readonly onChange: (look: (session: string, by: string) => void) => () => void
  readonly tell: (session: string, by: string) => void
  readonly nextName: () => string
}

export const createMemoryDatabase = (): MemoryDatabase => {
  const sessions = new Map<string, MemorySession>()
  const names = new Set<string>()
  /** The fences of removed sessions. */
  const retired = new Map<string, number>()
  const looks = new Set<(session: string, by: string) => void>()
  let drafts = 0

  let places = 0

  const makeSession = (id: string): MemorySession => {
    const fence = retired.get(id) ?? 0
    const session: MemorySession = { id, place: (places += 1), events: [], fence, owner: undefined }
    sessions.set(id, session)
    return session
  }

  const remember = (events: readonly DurableEvent[]): void => {
    for (const claim of claimsOf(events)) names.add(nameOf(claim))
    for (const id of events.flatMap(messageIds)) names.add(nameOf({ kind: "input", id }))
  }

  const append: MemoryDatabase["append"] = ({ session: id, fence, after, time, events }) => {
    const session = sessions.get(id)
    if (fence !== undefined && session?.fence !== fence.number) return { kind: "fenced" }
    if ((session?.events.length ?? 0) !== after) return { kind: "moved" }
    if (session === undefined && events[0]?.type !== "session.next.created.1") return { kind: "moved" }
    const claim = claimsOf(events).find((claimed) => names.has(nameOf(claimed)))
    if (claim !== undefined) return { kind: "taken", claim }
    const stored = (session ?? makeSession(id)).events
    // As it would come back from a log: without what JSON does not keep.
    for (const event of events) stored.push({ ...asStored(event), seq: stored.length + 1, time })
    remember(events)
    return { kind: "committed" }
  }

  return {
    identity: randomUUID(),
    sessions,
    owners: new Map(),
    outputs: new Map(),
    append,
    publish: (id, events) => {
      if (sessions.has(id)) return "taken"
      const { events: stored } = makeSession(id)
      for (const { time, ...event } of events)
        stored.push({ ...asStored(event), seq: stored.length + 1, time })
      remember(events)
      return "published"
    },
    remove: (id) => {
      const session = sessions.get(id)
      if (session === undefined) return
      retired.set(id, session.fence + 1)
      for (const claim of claimsOf(session.events)) names.delete(nameOf(claim))
      for (const message of session.events.flatMap(messageIds))
        names.delete(nameOf({ kind: "input", id: message }))
      sessions.delete(id)
    },
    isCurrent: ({ session, number }) => sessions.get(session)?.fence === number,
    onChange: (look) => {
      looks.add(look)
      return () => looks.delete(look)
    },
    tell: (session, by) => {
      for (const look of looks) look(session, by)
    },
    nextName: () => `draft-${(drafts += 1)}`,
  }
}

const nameOf = ({ kind, id }: Claim): string => `${kind} ${id}`

/** The id of a message may not also be the id of an input. */
const messageIds = (event: DurableEvent): readonly string[] => {
  if (event.type === "session.next.step.started.1") return [event.data.assistantMessageID]
  if (event.type === "session.next.context.updated.1" || event.type === "session.next.prompted.1")
    return [event.data.messageID]
  return event.type === "session.next.compaction.ended.2" ? [event.data.compactionID] : []
}

const asStored = <Event extends DurableEvent>(event: Event): Event =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a trip through JSON changes nothing an event may hold
  JSON.parse(JSON.stringify(event)) as Event
