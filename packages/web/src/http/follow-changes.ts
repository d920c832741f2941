/** Hears which sessions changed, for as long as the page is open. */
import { createFrameReader, type Frame } from "../domain/event-stream.ts"
import { HttpFailure, offline, readFailure, type Connection } from "./api.ts"
import { visible, watchHidden } from "./while-visible.ts"

export interface Changes {
  readonly sessions: readonly string[]
  /** Any may have changed. */
  readonly elsewhere: boolean
}

const SILENCE_MS = 60_000
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
      await readStream(options.connection, hidden.signal, (changes) => {
        delayMs = FIRST_DELAY_MS
        tell(changes)
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

const readStream = async (
  connection: Connection,
  hidden: AbortSignal,
  tell: (changes: Changes) => void,
): Promise<void> => {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    const response = await connection.fetch("/api/event", {
      headers: { accept: "text/event-stream", authorization: `Bearer ${connection.token}` },
      signal: AbortSignal.any([silence.signal, hidden]),
    })
    if (!response.ok || response.body === null) throw await readFailure(response)
    const reader = createFrameReader()
    const pieces = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { done, value } = await pieces.read()
      if (done) return
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS)
      for (const frame of reader.push(value)) for (const changes of readChanges(frame)) tell(changes)
    }
  } finally {
    clearTimeout(timer)
  }
}

const readChanges = (frame: Frame): readonly Changes[] => {
  if (frame.event !== "changed") return []
  const { data }: { data?: { sessions?: unknown; elsewhere?: unknown } } = JSON.parse(frame.data)
  const sessions = Array.isArray(data?.sessions) ? data.sessions.filter((id) => typeof id === "string") : []
  return [{ sessions, elsewhere: data?.elsewhere !== false }]
}
