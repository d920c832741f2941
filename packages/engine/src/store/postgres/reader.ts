/** Reads one session: first brings this node's rows up to date with the server, then reads from them. */
import { decodeEvent, eventFrame, Failure } from "@meridian/protocol"

import { LIMITS } from "../../domain/limits.ts"
import type { EventFrames, EventRange } from "../../port/store.ts"
import type { Known, Mirror } from "./mirror.ts"
import type { Head, ServerRows } from "./rows.ts"
import { nextSummary, NO_SUMMARY } from "./summary.ts"

export interface SessionReader {
  /** The session's row, after reading everything up to it; undefined when the session does not exist. */
  readonly refresh: (session: string) => Promise<Head | undefined>
  /**
   * A part of a log as it is sent to readers. What this node does not know yet is passed on from the server, without
   * deriving its rows.
   */
  readonly frames: (range: EventRange) => Promise<EventFrames | undefined>
  readonly read: <A>(session: string, body: () => A, missing: A) => Promise<A>
}

/** Another session may push this one out of memory during the read, but not again and again. */
const MOST_TRIES = 10

export const createSessionReader = (options: {
  readonly rows: ServerRows
  readonly mirror: Mirror
  readonly database: string
}): SessionReader => {
  const { rows, mirror, database } = options

  const readOn = async ({ id, key, seq }: Head): Promise<void> => {
    for (;;) {
      const { seq: after, summary: before } = mirror.known(id) ?? { seq: 0, summary: NO_SUMMARY }
      if (after >= seq) return
      const page = await rows.events(key, after, LIMITS.eventsPerPage)
      // The session was deleted while we read.
      if (page.length === 0) return
      mirror.add(id, key, page, page.map(decodeEvent).reduce(nextSummary, before))
    }
  }

  /** Events we had seen when we asked must still be there. */
  const requireNotBack = (
    session: string,
    before: Known | undefined,
    { key, seq }: Pick<Head, "key" | "seq">,
  ): void => {
    if (before?.key !== key || seq >= before.seq) return
    throw new Failure("DATABASE_WENT_BACK", {
      database,
      why: `session ${session} ends at ${seq}, and we had seen ${before.seq}`,
    })
  }

  const refresh: SessionReader["refresh"] = async (session) => {
    const before = mirror.known(session)
    const head = await rows.head(session)
    if (head === undefined || (before !== undefined && before.key !== head.key)) mirror.drop(session)
    else requireNotBack(session, before, head)
    if (head !== undefined) await readOn(head)
    return head
  }

  const read: SessionReader["read"] = async (session, body, missing) => {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const head = await refresh(session)
      if (head === undefined) return missing
      if ((mirror.known(session)?.seq ?? 0) < head.seq) continue
      mirror.project(session)
      return body()
    }
    return missing
  }

  return {
    refresh,
    read,
    frames: async (range) => {
      const { session, after } = range
      const before = mirror.known(session)
      if ((before?.seq ?? 0) > after) return read(session, () => mirror.frames(range), undefined)
      const page = await rows.page(range)
      if (page === undefined) return undefined
      requireNotBack(session, before, { key: page.key, seq: page.head })
      const last = page.rows.at(-1)?.seq
      if (last === undefined) return undefined
      const frames = Buffer.from(page.rows.map(eventFrame).join(""))
      return { first: after + 1, last, frames, more: last < page.head }
    },
  }
}
