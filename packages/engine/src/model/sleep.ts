import { setTimeout as wait } from "node:timers/promises"

/** Resolves after so long; rejects when the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

export const sleepFor: Sleep = async (ms, signal) => {
  await wait(ms, undefined, { signal })
}
