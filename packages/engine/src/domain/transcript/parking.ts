/**
 * A session that waits: for its provider (a usage limit, or an overload that outlasted the attempts of one turn), for a
 * person's answer to a question of the engine, or for a process to resume what another one left. An event parks it until a
 * time or an answer, so every process that has the store open knows when to continue.
 *
 * A process continues by starting a step, which ends the waiting. A step that ends well also resets how often the session
 * waited.
 */
import type { QuestionKind } from "@meridian/protocol"

import type { LoggedEvent } from "../logged-event.ts"

export interface Parking {
  /** The sequence of the event. */
  readonly seq: number
  /** Milliseconds since 1970. `NEVER`: until somebody answers. */
  readonly until: number
  /** When the first wait in the row began. */
  readonly since: number
  /** How many waits in a row, including this one. */
  readonly count: number
  /** No process has continued yet. */
  readonly waits: boolean
  /** The question that is still open. */
  readonly question?: ParkedQuestion
  /** Its process was lost, and another one should resume it. */
  readonly resumes?: true
}

export interface ParkedQuestion {
  readonly requestID: string
  readonly kind: QuestionKind
}

/** The last representable time. */
export const NEVER = 8_640_000_000_000_000

/** Due by any clock. */
export const AT_ONCE = 0

export const foldParking = (
  parking: Parking | undefined,
  events: readonly LoggedEvent[],
): Parking | undefined => events.reduce(foldOne, parking)

const foldOne = (parking: Parking | undefined, event: LoggedEvent): Parking | undefined => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest neither parks nor goes on
  switch (event.type) {
    case "session.next.parked.1": {
      const { until, since, count } = event.data
      return { seq: event.seq, until, since, count, waits: true }
    }
    // Already due: the next process that checks the timers continues.
    case "session.next.activity.resumed.1":
      return { seq: event.seq, until: AT_ONCE, since: event.time, count: 0, waits: true, resumes: true }
    case "session.next.question.asked.1": {
      const { requestID, kind, callID } = event.data
      if (callID !== undefined) return parking
      const question = { requestID, kind }
      return { seq: event.seq, until: NEVER, since: event.time, count: 0, waits: true, question }
    }
    case "session.next.question.replied.1": {
      if (parking?.question?.requestID !== event.data.requestID) return parking
      const { question: _answered, ...rest } = parking
      return { ...rest, until: AT_ONCE }
    }
    case "session.next.step.started.1": {
      if (parking === undefined) return undefined
      const { question: _overtaken, resumes: _taken, ...rest } = parking
      return { ...rest, waits: false }
    }
    case "session.next.step.ended.2":
    case "session.next.unparked.1":
    case "session.next.output.given.1":
    case "session.next.interrupt.requested.1":
    case "session.next.execution.failed.1":
      return undefined
    default:
      return parking
  }
}

export const isWaiting = (parking: Parking | undefined): boolean => parking?.waits === true

/** The session waits, and its time has not come. */
export const isParked = (parking: Parking | undefined, now: number): boolean =>
  parking !== undefined && parking.waits && now < parking.until
