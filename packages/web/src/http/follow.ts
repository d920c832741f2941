/** Follows the events of one session for as long as somebody looks: resumes where it was, again and again. */
import { decodeEvent, type LiveEvent, type StoredEvent, type UnknownEvent } from "@meridian/protocol"

import type { Frame } from "../domain/event-stream.ts"
import { HttpFailure, offline, type Connection } from "./api.ts"
import { readFrames } from "./read-frames.ts"
import { visible, watchHidden } from "./while-visible.ts"

export type Told =
  | { readonly kind: "event"; readonly event: StoredEvent | UnknownEvent }
  | { readonly kind: "live"; readonly event: LiveEvent }
  /** The replay has reached the present. */
  | { readonly kind: "synced" }
  | { readonly kind: "lost"; readonly failure: HttpFailure }
  /** It makes no sense to ask again. */
  | { readonly kind: "refused"; readonly failure: HttpFailure }

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

const readStream = (options: Parameters<typeof follow>[0], onFrames: () => void): Promise<void> => {
  const { connection, sessionID, tell, signal } = options
  const cursor = String(options.cursor())
  const path = `/api/session/${encodeURIComponent(sessionID)}/event?live=true&after=${cursor}`
  return readFrames(connection, { path, headers: { "last-event-id": cursor }, signal }, (frames) => {
    const told = frames.flatMap(readTold)
    if (told.length === 0) return
    onFrames()
    tell(told)
  })
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
