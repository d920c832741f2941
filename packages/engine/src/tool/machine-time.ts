/**
 * Time for what only the machine can end. A process lives in real time: a test's clock that stands still must not stop the
 * wait for it. The tools take every other time from the engine's clock.
 */
export { setTimeout as pause } from "node:timers/promises"

/** Milliseconds that never go back. */
export const machineMs = (): number => performance.now()
