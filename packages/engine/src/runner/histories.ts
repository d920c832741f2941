/**
 * Folded histories of the sessions at work, and of the last few that went idle. A history follows the log by sequence:
 * commits of this process are folded in as they happen, foreign ones are read when the history is next used.
 */
import type { StoredEvent } from "@meridian/protocol"

import { LIMITS } from "../domain/limits.ts"
import { createLowering, type Lowering } from "../domain/lower.ts"
import { createTranscript, type Transcript } from "../domain/transcript.ts"
import type { SessionRow } from "../store/log.ts"
import type { Store } from "../store/store.ts"

export interface History {
  readonly transcript: Transcript
  readonly lowering: Lowering
}

export interface Histories {
  /** The history as of the last commit. */
  readonly current: (session: Pick<SessionRow, "id" | "key">) => History
  readonly close: () => void
}

export const createHistories = (store: Store): Histories => {
  /** Insertion order is use order: the first is the one used longest ago. */
  const cached = new Map<string, History>()

  const follow = (sessionID: string, events: readonly StoredEvent[]): void => {
    const history = cached.get(sessionID)
    // A gap means another process wrote in between; `current` will read it.
    if (history === undefined || events[0]?.seq !== history.transcript.seq() + 1) return
    for (const event of events) history.transcript.apply(event)
  }
  const stopFollowing = store.log.onCommit(follow)

  const catchUp = (key: number, history: History): void => {
    for (;;) {
      const page = store.reader.events(key, history.transcript.seq(), LIMITS.eventsPerPage)
      for (const event of page) history.transcript.apply(event)
      if (page.length < LIMITS.eventsPerPage) return
    }
  }

  const evict = (): void => {
    let weight = 0
    for (const history of cached.values()) weight += history.transcript.weight()
    for (const [id, history] of cached) {
      if (cached.size <= LIMITS.idleHistories && weight <= LIMITS.idleHistoryBytes) return
      if (cached.size === 1) return
      weight -= history.transcript.weight()
      cached.delete(id)
    }
  }

  const current: Histories["current"] = ({ id, key }) => {
    const history = cached.get(id) ?? { transcript: createTranscript(), lowering: createLowering() }
    const known = cached.delete(id)
    cached.set(id, history)
    catchUp(key, history)
    if (!known) evict()
    return history
  }

  return {
    current,
    close: () => {
      stopFollowing()
      cached.clear()
    },
  }
}
