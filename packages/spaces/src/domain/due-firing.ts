/**
 * Whether a schedule fires now. The clock may jump: after a sleep or a stop the newest time that was missed is caught up, once;
 * after a step back nothing fires that has fired. Only a clock that stood far ahead is disbelieved.
 */

export interface ScheduleClock {
  readonly createdMs: number
  /** Everything due up to here is dealt with. */
  readonly handledMs: number
  readonly nowMs: number
  /** The first time of the pattern after this one. */
  readonly next: (afterMs: number) => number | undefined
  /** The last time of the pattern up to this one. */
  readonly last: (untilMs: number) => number | undefined
}

export type DueFiring =
  | { readonly tag: "none" }
  /** `isLate`: it was due while nobody looked. */
  | { readonly tag: "fire"; readonly dueMs: number; readonly isLate: boolean }
  /** The clock stood far ahead when something was dealt with last: count from now. */
  | { readonly tag: "rewind" }

/** A clock is corrected by minutes; a zone changes by hours. More than this was a wrong clock. */
const DISBELIEF_MS = 24 * 3_600_000

const LATE_MS = 60_000

export const dueFiring = ({ createdMs, handledMs, nowMs, next, last }: ScheduleClock): DueFiring => {
  // A machine that has just started may not know the time yet.
  if (nowMs < createdMs - DISBELIEF_MS) return { tag: "none" }
  if (handledMs > nowMs + DISBELIEF_MS) return { tag: "rewind" }
  const first = next(handledMs)
  if (first === undefined || first > nowMs) return { tag: "none" }
  const dueMs = Math.max(first, last(nowMs) ?? first)
  return { tag: "fire", dueMs, isLate: nowMs - dueMs > LATE_MS }
}
