/**
 * The machine's own time, for things outside the process that a test clock cannot move: a dying process, a remote server, a
 * file that another process holds. Everything else uses the engine's Clock (`time.ts`).
 */
export { setTimeout as pause } from "node:timers/promises"

/** Milliseconds from an arbitrary start; never go back. */
export const machineMs = (): number => performance.now()

/** Milliseconds since the epoch, as in the times of files. */
export const machineNow = (): number => Date.now()

/** A signal that aborts after this time. */
export const machineDeadline = (ms: number): AbortSignal => AbortSignal.timeout(Math.ceil(ms))
