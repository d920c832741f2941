import { createDirtySignal } from "./dirty-signal.ts"
import type { Signals } from "./signals.ts"

export interface SessionChanges {
  /** Sessions this process has written to. */
  readonly sessions: readonly string[]
  /** Whether another process has written, or more sessions have changed than are listed: any may have. */
  readonly elsewhere: boolean
}

/** More ids than this help nobody who wants to know what to look at. */
const MOST_SESSIONS = 200

/** Changes that come faster than they are taken come together; none is lost. */
export async function* changedSessions(
  signals: Pick<Signals, "watchAll" | "watchForeign">,
  signal: AbortSignal,
): AsyncGenerator<SessionChanges, void, void> {
  const dirty = createDirtySignal(signal)
  let sessions = new Set<string>()
  let elsewhere = false
  const unwatch = [
    signals.watchAll((sessionID) => {
      if (sessions.size < MOST_SESSIONS) sessions.add(sessionID)
      else elsewhere ||= !sessions.has(sessionID)
      dirty.mark()
    }),
    signals.watchForeign(() => {
      elsewhere = true
      dirty.mark()
    }),
  ]
  try {
    for (;;) {
      await dirty.wait()
      if (signal.aborted) return
      const changes: SessionChanges = { sessions: [...sessions], elsewhere }
      sessions = new Set()
      elsewhere = false
      yield changes
    }
  } finally {
    for (const leave of unwatch) leave()
    dirty.close()
  }
}
