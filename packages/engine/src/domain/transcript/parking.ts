/**
 * A session that waits for its provider: a usage limit, or an overload that outlasted the attempts of one turn. It is parked
 * until a time, by an event, so every process that has the store open knows when to go on.
 *
 * Whoever goes on starts a step, and that ends the waiting; a step that ends well also forgets how often it waited before.
 */
import type { LoggedEvent } from "../logged-event.ts"

export interface Parking {
  /** Of the event. */
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly until: number
  /** When the first of those in a row began. */
  readonly since: number
  /** How many in a row, this one included. */
  readonly count: number
  /** Nobody has gone on yet. */
  readonly waits: boolean
}

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
    case "session.next.step.started.1":
      return parking === undefined ? undefined : { ...parking, waits: false }
    case "session.next.step.ended.2":
    case "session.next.interrupt.requested.1":
    case "session.next.execution.failed.1":
      return undefined
    default:
      return parking
  }
}

export const isWaiting = (parking: Parking | undefined): boolean => parking?.waits === true

/** It waits, and its time has not come. */
export const isParked = (parking: Parking | undefined, now: number): boolean =>
  parking !== undefined && parking.waits && now < parking.until
