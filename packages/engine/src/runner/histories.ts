/**
 * Folded histories of the sessions at work, and of the last few that went idle. A history follows the log by sequence:
 * commits of this process are folded in as they happen, foreign ones are read when the history is next used.
 */
import type { StoredEvent } from "@meridian/protocol"

import { createEstimator, type Estimator } from "../domain/budget.ts"
import { LIMITS } from "../domain/limits.ts"
import type { LoggedEvent } from "../domain/logged-event.ts"
import { createLowering, type Lowering } from "../domain/lower.ts"
import { NOTHING_RESTORED, readRestoration, type Restoration } from "../domain/transcript/compactions.ts"
import { emptyTranscript, foldTranscript, type Transcript } from "../domain/transcript/transcript.ts"
import type { SessionRow } from "../store/log.ts"
import type { Store } from "../store/store.ts"
import { createPreamble, type Preamble } from "./request.ts"

/** `version`: SQLite's data version when it was last compared with the log. */
interface Cached {
  readonly history: History
  version: number
}

export interface History {
  /** The newest value; each commit makes the next one. */
  transcript: Transcript
  readonly lowering: Lowering
  readonly estimator: Estimator
  readonly preamble: Preamble
}

export interface Histories {
  /** Without asking for foreign commits: for the middle of a turn, whose beginning has asked. */
  readonly known: (session: Pick<SessionRow, "id" | "key">) => History
  /** The history as of the last commit. */
  readonly current: (session: Pick<SessionRow, "id" | "key">) => History
  readonly close: () => void
}

export const createHistories = (store: Store): Histories => {
  /** Insertion order is use order: the first is the one used longest ago. */
  const cached = new Map<string, Cached>()

  const follow = (sessionID: string, events: readonly StoredEvent[]): void => {
    const entry = cached.get(sessionID)
    if (entry === undefined) return
    if (events[0]?.seq === entry.history.transcript.seq + 1) fold(entry.history, events)
    // Another process wrote in between; `current` will read it.
    else entry.version = BEHIND
  }
  const stopFollowing = store.log.onCommit(follow)

  const catchUp = (key: number, history: History): void => {
    for (;;) {
      const page = store.reader.events(key, history.transcript.seq, LIMITS.eventsPerPage)
      fold(history, page)
      if (page.length < LIMITS.eventsPerPage) return
    }
  }

  const keep = (id: string, key: number, history: History): History => {
    const version = store.reader.foreignVersion()
    catchUp(key, history)
    cached.delete(id)
    cached.set(id, { history, version })
    return history
  }

  const evict = (): void => {
    let weight = 0
    for (const { history } of cached.values()) weight += history.transcript.conversation.weight
    for (const [id, { history }] of cached) {
      if (cached.size <= LIMITS.idleHistories && weight <= LIMITS.idleHistoryBytes) return
      if (cached.size === 1) return
      weight -= history.transcript.conversation.weight
      cached.delete(id)
    }
  }

  const current: Histories["current"] = ({ id, key }) => {
    const entry = cached.get(id)
    // Our own commits are folded in as they happen: only a foreign one can have left this behind.
    if (
      entry !== undefined &&
      entry.version === store.reader.foreignVersion() &&
      !entry.history.transcript.compactions.outdated
    )
      return entry.history
    const history = keep(id, key, entry?.history ?? openHistory(NOTHING_RESTORED))
    if (entry === undefined) evict()
    // A restore brings back what the fold has let go: it is made again, without the compactions taken back.
    if (!history.transcript.compactions.outdated) return history
    return keep(id, key, openHistory(readRestoration(store.reader.compactions(key))))
  }

  const known: Histories["known"] = (session) => {
    const entry = cached.get(session.id)
    return entry === undefined || entry.version === BEHIND || entry.history.transcript.compactions.outdated
      ? current(session)
      : entry.history
  }

  return {
    current,
    known,
    close: () => {
      stopFollowing()
      cached.clear()
    },
  }
}

const BEHIND = -1

const openHistory = (restoration: Restoration): History => ({
  transcript: emptyTranscript(restoration),
  lowering: createLowering(),
  estimator: createEstimator(),
  preamble: createPreamble(),
})

const fold = (history: History, events: readonly LoggedEvent[]): void => {
  history.transcript = foldTranscript(history.transcript, events)
}
