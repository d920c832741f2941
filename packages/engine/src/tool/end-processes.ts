/** Ending processes for certain: asked first, killed after a grace, looked for until none is left. */
import { machineMs, pause } from "../port/machine-time.ts"
import { sendSignal, type ProcessRow } from "./process-table.ts"

export interface EndRequest {
  /** The processes that are still there; called again and again. */
  readonly find: () => Promise<readonly ProcessRow[]>
  /** Asks them to end, once: a second signal means "at once" to many programs. By default each gets SIGTERM. */
  readonly ask?: (alive: readonly ProcessRow[]) => void
  /** How long they may take to end by themselves; zero kills without asking. */
  readonly graceMs: number
  /** How long to wait for killed processes to disappear (one in an uninterruptible system call may not). */
  readonly waitMs: number
}

/** How many different processes were seen and ended. */
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
