/**
 * Decides whether a schedule fires now. The clock may jump. After a sleep or a stop, the newest missed time is caught
 * up, once. After a step back, nothing fires twice. Only a clock that was far ahead is disbelieved.
 */

export interface ScheduleClock {
  readonly createdMs: number
  /** Everything due up to here has been handled. */
  readonly handledMs: number
  readonly nowMs: number
  /** The first time of the pattern after this one. */
  readonly next: (afterMs: number) => number | undefined
  /** The last time of the pattern up to this one. */
  readonly last: (untilMs: number) => number | undefined
}

export type DueFiring =
  | { readonly tag: "none" }
  /** `isLate`: it came due while no supervisor was watching. */
  | { readonly tag: "fire"; readonly dueMs: number; readonly isLate: boolean }
  /** The clock was far ahead when the last firing was handled, so count from now. */
  | { readonly tag: "rewind" }

/** Corrections move a clock by minutes and zones by hours. A larger jump means that the clock was wrong. */
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
