/** Ending processes for certain: asked first, killed after a grace, looked for until none is left. */
import { setTimeout as delay } from "node:timers/promises"

import { sendSignal, type ProcessRow } from "./process-table.ts"

export interface EndRequest {
  /** The processes that are still there; called again and again. */
  readonly find: () => Promise<readonly ProcessRow[]>
  /** Zero kills at once. */
  readonly graceMs: number
  /** How long to wait for killed processes to disappear (one in an uninterruptible system call may not). */
  readonly waitMs: number
}

/** How many different processes were ended. */
export const endProcesses = async (request: EndRequest): Promise<number> => {
  const started = performance.now()
  const seen = new Set<number>()
  const deadline = started + request.graceMs + request.waitMs
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 100)) {
    const alive = await request.find()
    if (alive.length === 0) return seen.size
    const now = performance.now()
    const kill = now - started >= request.graceMs
    for (const { pid } of alive) {
      if (kill) sendSignal(pid, "SIGKILL")
      else if (!seen.has(pid)) sendSignal(pid, "SIGTERM")
      seen.add(pid)
    }
    if (now >= deadline) return seen.size
    await delay(kill ? pauseMs : Math.min(pauseMs, Math.max(1, started + request.graceMs - now)))
  }
}
