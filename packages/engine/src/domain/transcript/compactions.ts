/** What was compacted, what is asked for, and what a restore took back. */
import type { LoggedEvent } from "../logged-event.ts"

/** How a compaction went, for the breaker. */
export interface CompactionProgress {
  readonly seq: number
  readonly before: number
  readonly after: number
}

/** Compactions that a restore has taken back, and up to which event that is known. */
export interface Restoration {
  readonly ignored: ReadonlySet<string>
  readonly through: number
}

export const NOTHING_RESTORED: Restoration = { ignored: new Set(), through: 0 }

export interface Compactions {
  readonly restoration: Restoration
  /** Sequence of the last completed one; native data from before it must not be sent. */
  readonly seq: number
  readonly requested: boolean
  /** Started, and neither ended nor failed. */
  readonly open: string | undefined
  readonly completed: readonly CompactionProgress[]
  /** A restore made this fold wrong: it must be made again from the log. */
  readonly outdated: boolean
}

export const noCompactions = (restoration: Restoration): Compactions => ({
  restoration,
  seq: 0,
  requested: false,
  open: undefined,
  completed: [],
  outdated: false,
})

export const foldCompactions = (compactions: Compactions, events: readonly LoggedEvent[]): Compactions =>
  events.reduce(foldOne, compactions)

const foldOne = (compactions: Compactions, event: LoggedEvent): Compactions => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest is no compaction
  switch (event.type) {
    case "session.next.compaction.requested.1":
      return { ...compactions, requested: true }
    case "session.next.compaction.started.1":
      return { ...compactions, requested: false, open: event.data.compactionID }
    case "session.next.compaction.failed.1":
      return { ...compactions, requested: false, open: undefined }
    case "session.next.compaction.ended.2": {
      const { compactionID, tokens } = event.data
      const closed = { ...compactions, open: undefined }
      if (compactions.restoration.ignored.has(compactionID)) return closed
      const { before, after } = tokens
      const completed = [...compactions.completed, { seq: event.seq, before, after }]
      return { ...closed, seq: event.seq, completed }
    }
    case "session.next.compaction.restored.1":
      return event.seq > compactions.restoration.through ? { ...compactions, outdated: true } : compactions
    default:
      return compactions
  }
}

/** Each restore takes back every compaction behind the one it names. `events`: all compaction events of a session. */
export const readRestoration = (events: readonly LoggedEvent[]): Restoration => {
  const ended: string[] = []
  const ignored = new Set<string>()
  let through = 0
  for (const event of events) {
    if (event.type === "session.next.compaction.ended.2") ended.push(event.data.compactionID)
    if (event.type !== "session.next.compaction.restored.1") continue
    through = event.seq
    const { compactionID } = event.data
    const target = compactionID === undefined ? -1 : ended.indexOf(compactionID)
    for (const id of ended.slice(target + 1)) ignored.add(id)
    if (compactionID !== undefined) ignored.delete(compactionID)
  }
  return { ignored, through }
}
