/** Ends processes for certain: asks first, kills after a grace period, and checks until none is left. */
import { machineMs, pause } from "../port/machine-time.ts"
import { sendSignal, type ProcessRow } from "./process-table.ts"

export interface EndRequest {
  /** The processes that still exist. Called repeatedly. */
  readonly find: () => Promise<readonly ProcessRow[]>
  /** Asks them to end, only once, because many programs take a second signal as "at once". Default: SIGTERM to each. */
  readonly ask?: (alive: readonly ProcessRow[]) => void
  /** How long they may take to end on their own. Zero kills without asking. */
  readonly graceMs: number
  /** How long to wait for killed processes to disappear. One in an uninterruptible system call may not. */
  readonly waitMs: number
}

/** Returns how many different processes were seen and ended. */
export const endProcesses = async (request: EndRequest): Promise<number> => {
  const started = machineMs()
  const seen = new Set<number>()
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 100)) {
    const alive = await request.find()
    const elapsedMs = machineMs() - started
    if (alive.length > 0 && elapsedMs >= request.graceMs)
      for (const { pid } of alive) sendSignal(pid, "SIGKILL")
    else if (alive.length > 0 && seen.size === 0) (request.ask ?? askEach)(alive)
    for (const { pid } of alive) seen.add(pid)
    if (alive.length === 0 || elapsedMs >= request.graceMs + request.waitMs) return seen.size
    const leftMs = request.graceMs - elapsedMs
    await pause(leftMs > 0 ? Math.min(pauseMs, leftMs) : pauseMs)
  }
}

const askEach = (alive: readonly ProcessRow[]): void => {
  for (const { pid } of alive) sendSignal(pid, "SIGTERM")
}
