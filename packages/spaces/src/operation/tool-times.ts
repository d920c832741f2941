/** Whether processes a harness started are computing: a build may print nothing for long although it works. */
import type { ProcessMark } from "../domain/process-mark.ts"
import { processesWith, processorTimes } from "../store/process-table.ts"
import { RUN_MARK } from "../store/run-liveness.ts"

export interface ToolTimes {
  readonly at: number
  /** Process -> milliseconds. */
  readonly times: ReadonlyMap<number, number>
}

/** Excludes the harness itself: it always does a little, and one that spins does no work. */
export const toolTimes = (
  report: string,
  { leader, at }: { readonly leader: ProcessMark | undefined; readonly at: number },
): ToolTimes => ({
  at,
  times: processorTimes(processesWith(RUN_MARK, report).filter((pid) => pid !== leader?.pid)),
})

export const computesSince = (before: ToolTimes, now: ToolTimes): boolean => {
  const computed = [...now.times].reduce(
    (sum, [pid, time]) => sum + Math.max(0, time - (before.times.get(pid) ?? 0)),
    0,
  )
  return computed >= (now.at - before.at) * BUSY
}

/** Share of one processor. Programs that only wait use less. */
const BUSY = 0.02
