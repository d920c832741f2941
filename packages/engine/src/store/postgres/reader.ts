/** Reads one session: first brings this node's rows up to date with the server, then reads from them. */
import { decodeEvent, Failure } from "@meridian/protocol"

import { LIMITS } from "../../domain/limits.ts"
import type { Mirror } from "./mirror.ts"
import type { Head, ServerRows } from "./rows.ts"
import { nextSummary, NO_SUMMARY } from "./summary.ts"

export interface SessionReader {
  /** The session's row, after reading everything up to it; undefined when the session does not exist. */
  readonly refresh: (session: string) => Promise<Head | undefined>
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

  const refresh: SessionReader["refresh"] = async (session) => {
    const before = mirror.known(session)
    const head = await rows.head(session)
    if (head === undefined || (before !== undefined && before.key !== head.key)) mirror.drop(session)
    else if (before !== undefined && head.seq < before.seq)
      throw new Failure("DATABASE_WENT_BACK", {
        database,
        why: `session ${session} ends at ${head.seq}, and we had seen ${before.seq}`,
      })
    if (head !== undefined) await readOn(head)
    return head
  }

  return {
    refresh,
    read: async (session, body, missing) => {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const head = await refresh(session)
        if (head === undefined) return missing
        if ((mirror.known(session)?.seq ?? 0) < head.seq) continue
        mirror.project(session)
        return body()
      }
      return missing
    },
  }
}
