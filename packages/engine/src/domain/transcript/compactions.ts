/** What was compacted, what is requested, and what a restore took back. */
import type { RecordedUsage } from "@meridian/protocol"

import type { LoggedEvent } from "../logged-event.ts"
import { isWithin, readSpans, type Span } from "./undoing.ts"

/** The effect of one compaction, for the circuit breaker. */
export interface CompactionProgress {
  readonly seq: number
  readonly before: number
  readonly after: number
}

/** What was taken back in a session, and up to which event this is known. */
export interface Restoration {
  /** Compactions that a restore took back, or an undo of the history before them. */
  readonly ignored: ReadonlySet<string>
  /** Spans of the log that are not part of the conversation. */
  readonly undone: readonly Span[]
  readonly through: number
}

export const NOTHING_RESTORED: Restoration = { ignored: new Set(), undone: [], through: 0 }

export interface Compactions {
  readonly restoration: Restoration
  /** The sequence of the last completed compaction. Native data from before it must not be sent. */
  readonly seq: number
  readonly requested: boolean
  /** Started, but neither ended nor failed. */
  readonly open: string | undefined
  readonly completed: readonly CompactionProgress[]
  /** A restore or an undo made this fold wrong. It must be folded again from the log. */
  readonly outdated: boolean
  readonly pace: Pace
  /**
   * The last compaction happened because the provider reported far more than our estimate. Such a report is not believed
   * twice in a row. After a lower report it is believed again.
   */
  readonly disbelieves: boolean
  /** What the provider reported when it was believed; 0 otherwise. */
  readonly believed: number
}

/** How closely compactions follow each other. Those that a person asked for do not count. */
export interface Pace {
  /** For each of the last three turns: whether a compaction came before it ended. */
  readonly recent: readonly boolean[]
  /** Compactions since the last turn ended. */
  readonly fresh: number
  /** Compactions in a row, with no turn without one, no prompt of a person and no change of the todo list in between. */
  readonly row: number
  /** That compactions are this close together was already reported. */
  readonly isTold: boolean
}

const EASY: Pace = { recent: [], fresh: 0, row: 0, isTold: false }
const TURNS_LOOKED_AT = 3

export const noCompactions = (restoration: Restoration): Compactions => ({
  restoration,
  seq: 0,
  requested: false,
  open: undefined,
  completed: [],
  outdated: false,
  pace: EASY,
  disbelieves: false,
  believed: 0,
})

export const foldCompactions = (compactions: Compactions, events: readonly LoggedEvent[]): Compactions =>
  events.reduce(foldOne, compactions)

const foldOne = (compactions: Compactions, event: LoggedEvent): Compactions => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest is no compaction
  switch (event.type) {
    case "session.next.compaction.requested.1":
      return { ...compactions, requested: true }
    case "session.next.compaction.started.1":
      return {
        ...compactions,
        requested: false,
        open: event.data.compactionID,
        believed: event.data.weighed === undefined ? 0 : event.data.tokens,
      }
    case "session.next.compaction.failed.1":
      return { ...compactions, requested: false, open: undefined }
    case "session.next.compaction.ended.2": {
      const { compactionID, tokens, reason } = event.data
      const { pace, believed } = compactions
      const closed = { ...compactions, open: undefined, disbelieves: believed > 0 }
      if (compactions.restoration.ignored.has(compactionID)) return closed
      const { before, after } = tokens
      const completed = [...compactions.completed, { seq: event.seq, before, after }]
      const next = reason === "manual" ? pace : { ...pace, fresh: pace.fresh + 1, row: pace.row + 1 }
      return { ...closed, seq: event.seq, completed, pace: next }
    }
    case "session.next.compaction.restored.1":
      return outdatedBy(compactions, event.seq)
    case "session.next.undo.ended.1":
      return event.data.conversation ? outdatedBy(compactions, event.seq) : compactions
    case "session.next.step.ended.2": {
      const pace = afterTurn(compactions.pace)
      const disbelieves = compactions.disbelieves && !saysElse(compactions, event.data.usage)
      return pace === compactions.pace && disbelieves === compactions.disbelieves
        ? compactions
        : { ...compactions, pace, disbelieves }
    }
    case "session.next.prompt.promoted.1":
    case "session.next.prompted.1":
    case "session.next.todo.updated.1":
      return cameFurther(compactions)
    case "session.next.question.replied.1":
      return event.data.callID === undefined ? cameFurther(compactions) : compactions
    case "session.next.warned.1":
      return event.data.about === "compaction"
        ? { ...compactions, pace: { ...compactions.pace, isTold: true } }
        : compactions
    default:
      return compactions
  }
}

const saysElse = ({ believed }: Compactions, { input, cacheRead, cacheWrite }: RecordedUsage): boolean =>
  input + cacheRead + cacheWrite < believed / 2

const afterTurn = (pace: Pace): Pace => {
  const { recent, fresh, row } = pace
  if (fresh === 0 && row === 0 && recent.length === 0) return pace
  const looked = [...recent, fresh > 0].slice(-TURNS_LOOKED_AT)
  if (!looked.includes(true)) return EASY
  return { ...pace, recent: looked, fresh: 0, row: fresh === 0 ? 0 : row }
}

const cameFurther = (compactions: Compactions): Compactions =>
  compactions.pace.row === 0 ? compactions : { ...compactions, pace: { ...compactions.pace, row: 0 } }

const outdatedBy = (compactions: Compactions, seq: number): Compactions =>
  seq > compactions.restoration.through ? { ...compactions, outdated: true } : compactions

/**
 * A restore takes back every compaction after the one it names; an undo takes back those after the prompt it returns to.
 * `events`: all compaction and undo events of a session.
 */
export const readRestoration = (events: readonly LoggedEvent[]): Restoration => {
  const ended: string[] = []
  const ignored = new Set<string>()
  const undone = readSpans(events)
  let through = 0
  for (const event of events) {
    if (event.type === "session.next.undo.ended.1" && event.data.conversation) through = event.seq
    if (isWithin(undone, event.seq)) {
      if (event.type === "session.next.compaction.ended.2") ignored.add(event.data.compactionID)
      continue
    }
    if (event.type === "session.next.compaction.ended.2") ended.push(event.data.compactionID)
    if (event.type !== "session.next.compaction.restored.1") continue
    through = event.seq
    const { compactionID } = event.data
    const target = compactionID === undefined ? -1 : ended.indexOf(compactionID)
    for (const id of ended.slice(target + 1)) ignored.add(id)
    if (compactionID !== undefined) ignored.delete(compactionID)
  }
  return { ignored, undone, through }
}
