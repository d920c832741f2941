/**
 * The machine's own time, for what no test's clock could end or answer: a process that dies, a server far away, a file that
 * another process holds. Everything else takes its time from the engine's Clock (`time.ts`).
 */
export { setTimeout as pause } from "node:timers/promises"

/** Milliseconds that never go back. */
export const machineMs = (): number => performance.now()

/** Milliseconds since the epoch, as files are dated. */
export const machineNow = (): number => Date.now()

/** Aborts after so long. */
export const machineDeadline = (ms: number): AbortSignal => AbortSignal.timeout(Math.ceil(ms))
