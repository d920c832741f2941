/** Waits for a time of the wall clock, or until a person asks the run to resume or to pause. */
import { LIMIT } from "../domain/limit.ts"
import type { Asked } from "../domain/run.ts"
import { logWatch } from "../store/run-store.ts"
import type { RunContext } from "./run-context.ts"

/** Timers stop while a machine sleeps, so the time is checked at least this often. */
const LOOK_MS = 1_000

export const untilAsked = async (
  { world, stopper, space, run, read }: RunContext,
  untilMs: number,
): Promise<"time" | Asked> => {
  const isNews = logWatch(space)
  const wholeMs = untilMs - world.clock.now()
  for (let sleptMs = 0; ;) {
    if (stopper.signal.aborted) return "stop"
    const left = untilMs - world.clock.now()
    // Setting the clock back must not make the wait longer.
    if (left <= 0 || sleptMs >= wholeMs) return "time"
    if (isNews()) {
      const { asked } = read()
      if (asked !== undefined) return asked
    }
    world.progress(`Run ${run.id} waits.`)
    const stepMs = Math.max(LIMIT.pollMs, Math.min(left, LOOK_MS))
    await world.clock.sleep(stepMs, stopper.signal)
    sleptMs += stepMs
  }
}
