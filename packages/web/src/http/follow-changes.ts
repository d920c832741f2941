/** Hears which sessions changed, for as long as the page is open. */
import type { Frame } from "../domain/event-stream.ts"
import { HttpFailure, offline, type Connection } from "./api.ts"
import { readFrames } from "./read-frames.ts"
import { visible, watchHidden } from "./while-visible.ts"

export interface Changes {
  readonly sessions: readonly string[]
  /** Any may have changed. */
  readonly elsewhere: boolean
}

const FIRST_DELAY_MS = 500
const MOST_DELAY_MS = 5_000

export const followChanges = async (options: {
  readonly connection: Connection
  /** Also called after every reconnect, because anything may have changed meanwhile. */
  readonly tell: (changes: Changes) => void
  readonly lost: (failure: HttpFailure) => void
}): Promise<void> => {
  const { lost, tell } = options
  let delayMs = FIRST_DELAY_MS
  for (;;) {
    await visible()
    const hidden = watchHidden()
    try {
      await readFrames(options.connection, { path: "/api/event", signal: hidden.signal }, (frames) => {
        for (const changes of frames.flatMap(readChanges)) {
          delayMs = FIRST_DELAY_MS
          tell(changes)
        }
      })
    } catch (cause) {
      if (hidden.signal.aborted) continue
      const failure = cause instanceof HttpFailure ? cause : offline(cause)
      lost(failure)
      if (failure.status === 401) return
    } finally {
      hidden.stop()
    }
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    delayMs = Math.min(delayMs * 2, MOST_DELAY_MS)
  }
}

const readChanges = (frame: Frame): readonly Changes[] => {
  if (frame.event !== "changed") return []
  const { data }: { data?: { sessions?: unknown; elsewhere?: unknown } } = JSON.parse(frame.data)
  const sessions = Array.isArray(data?.sessions) ? data.sessions.filter((id) => typeof id === "string") : []
  return [{ sessions, elsewhere: data?.elsewhere !== false }]
}
