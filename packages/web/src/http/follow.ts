/** Follows the events of one session for as long as somebody looks: resumes where it was, again and again. */
import { decodeEvent, type LiveEvent, type StoredEvent, type UnknownEvent } from "@meridian/protocol"

import { createFrameReader, type Frame } from "../domain/event-stream.ts"
import { HttpFailure, offline, readFailure, type Connection } from "./api.ts"
import { visible, watchHidden } from "./while-visible.ts"

export type Told =
  | { readonly kind: "event"; readonly event: StoredEvent | UnknownEvent }
  | { readonly kind: "live"; readonly event: LiveEvent }
  /** The replay has reached the present. */
  | { readonly kind: "synced" }
  | { readonly kind: "lost"; readonly failure: HttpFailure }
  /** It makes no sense to ask again. */
  | { readonly kind: "refused"; readonly failure: HttpFailure }

/** The server's heartbeat comes more often than this; a connection without it is dead. */
const SILENCE_MS = 60_000
const FIRST_DELAY_MS = 500
const MOST_DELAY_MS = 10_000
/** Not ours to ask, not there, or a cursor of another log: asking again changes nothing. */
const FINAL: ReadonlySet<number> = new Set([400, 401, 403, 404])

export const follow = async (options: {
  readonly connection: Connection
  readonly sessionID: string
  /** The last sequence that is known; asked again at every reconnect. */
  readonly cursor: () => number
  readonly tell: (told: readonly Told[]) => void
  readonly signal: AbortSignal
}): Promise<void> => {
  const { signal, tell } = options
  let delayMs = FIRST_DELAY_MS
  while (!signal.aborted) {
    await visible()
    const hidden = watchHidden()
    try {
      await readStream({ ...options, signal: AbortSignal.any([signal, hidden.signal]) }, () => {
        delayMs = FIRST_DELAY_MS
      })
    } catch (cause) {
      if (signal.aborted) return
      if (hidden.signal.aborted) continue
      const failure = cause instanceof HttpFailure ? cause : offline(cause)
      const isFinal = FINAL.has(failure.status)
      tell([{ kind: isFinal ? "refused" : "lost", failure }])
      if (isFinal) return
    } finally {
      hidden.stop()
    }
    await pause(delayMs, signal)
    delayMs = Math.min(delayMs * 2, MOST_DELAY_MS)
  }
}

const readStream = async (options: Parameters<typeof follow>[0], onFrames: () => void): Promise<void> => {
  const { connection, sessionID, cursor, tell, signal } = options
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    const response = await connection.fetch(
      `/api/session/${encodeURIComponent(sessionID)}/event?live=true&after=${cursor()}`,
      {
        headers: {
          accept: "text/event-stream",
          authorization: `Bearer ${connection.token}`,
          "last-event-id": String(cursor()),
        },
        signal: AbortSignal.any([signal, silence.signal]),
      },
    )
    if (!response.ok || response.body === null) throw await readFailure(response)
    const reader = createFrameReader()
    const pieces = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { done, value } = await pieces.read()
      if (done) return
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS)
      const told = reader.push(value).flatMap(readTold)
      if (told.length === 0) continue
      onFrames()
      tell(told)
    }
  } finally {
    clearTimeout(timer)
  }
}

const readTold = (frame: Frame): readonly Told[] => {
  if (frame.event === "synced") return [{ kind: "synced" }]
  const value = parse(frame.data)
  if (value === undefined) return []
  if (frame.event === "live") return isLive(value) ? [{ kind: "live", event: value }] : []
  if (frame.event !== "message") return []
  const { seq, time, type, data } = value
  if (typeof seq !== "number" || typeof time !== "number" || typeof type !== "string") return []
  return [{ kind: "event", event: decodeEvent({ seq, time, type, data: JSON.stringify(data) }) }]
}

type Fields = Readonly<Record<string, unknown>>

const parse = (text: string): Fields | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null

const isLive = (value: Fields): value is Fields & LiveEvent => {
  const data = value["data"]
  return typeof value["type"] === "string" && isFields(data) && typeof data["delta"] === "string"
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
