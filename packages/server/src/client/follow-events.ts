import type { SessionChanges } from "@meridian/engine"
/**
 * Follows the events of a session across broken connections. The cursor is the sequence of the last event handed on: it
 * only moves by durable frames, so after any interruption the next event is the next one of the log.
 */
import type { LiveEvent, StoredEvent, SyncedMarker, UnknownEvent } from "@meridian/protocol"

import { failureOf, HttpFailure } from "./http-failure.ts"
import { readFrames, type Frame } from "./read-frames.ts"

export type EventFrame =
  | StoredEvent
  | UnknownEvent
  | SyncedMarker
  | LiveEvent
  | { readonly type: "dropped"; readonly data: { readonly count: number } }
  /** The connection is gone and will be made again; live fragments may be missing. */
  | { readonly type: "reconnecting"; readonly data: { readonly after: number } }

export interface FollowOptions extends StreamOptions {
  readonly sessionID: string
  readonly after?: number
  /** Also fragments of the model's output. */
  readonly live?: boolean
  /** False ends where the replay ends. */
  readonly follow?: boolean
}

export interface StreamOptions {
  readonly signal?: AbortSignal
  /** Before the first attempt to reconnect; doubles up to thirty times itself. */
  readonly reconnectMs?: number
  /** Longer silence than this is a dead connection; the server sends a sign of life every 15 s. */
  readonly silenceMs?: number
}

interface Connection {
  readonly url: string
  readonly token: string
  readonly fetch: typeof globalThis.fetch
}

const RECONNECT_MS = 500
const SILENCE_MS = 45_000
const LONGEST_BACK_OFF = 30

export async function* followEvents(
  connection: Connection,
  options: FollowOptions,
): AsyncGenerator<EventFrame, void, void> {
  const { sessionID, live = false, follow = true, signal, reconnectMs = RECONNECT_MS } = options
  let after = options.after ?? 0
  let failures = 0
  while (!isOver(signal)) {
    try {
      const path = `/api/session/${encodeURIComponent(sessionID)}/event?after=${after}&live=${live}&follow=${follow}`
      for await (const frame of connect(connection, path, options)) {
        failures = 0
        if (frame.name === "closed") break
        const event = asEvent(frame.data)
        if (frame.id !== undefined) after = Number(frame.id)
        yield event
        if (event.type === "synced" && !follow) return
      }
    } catch (cause) {
      if (isOver(signal)) return
      // The server understood and refused: asking again gives the same answer. Only a server in trouble is asked again.
      if (cause instanceof HttpFailure && cause.status < 500) throw cause
    }
    if (isOver(signal)) return
    yield { type: "reconnecting", data: { after } }
    await pause(reconnectMs * Math.min(2 ** failures, LONGEST_BACK_OFF), signal)
    failures += 1
  }
}

/** Which sessions changed; at once and after every reconnect it says that any may have. */
export async function* followChanges(
  connection: Connection,
  options: StreamOptions,
): AsyncGenerator<SessionChanges, void, void> {
  const { signal, reconnectMs = RECONNECT_MS } = options
  let failures = 0
  while (!isOver(signal)) {
    try {
      for await (const frame of connect(connection, "/api/event", options)) {
        failures = 0
        if (frame.name === "changed") yield asChanges(frame.data)
      }
    } catch (cause) {
      if (cause instanceof HttpFailure && cause.status < 500) throw cause
    }
    if (isOver(signal)) return
    await pause(reconnectMs * Math.min(2 ** failures, LONGEST_BACK_OFF), signal)
    failures += 1
  }
}

async function* connect(
  { url, token, fetch }: Connection,
  path: string,
  { signal, silenceMs = SILENCE_MS }: StreamOptions,
): AsyncGenerator<Frame, void, void> {
  const silent = new AbortController()
  let timer = setTimeout(() => silent.abort(), silenceMs)
  const alive = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => silent.abort(), silenceMs)
  }
  try {
    const response = await fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
      cache: "no-store",
      signal: signal === undefined ? silent.signal : AbortSignal.any([signal, silent.signal]),
    })
    if (!response.ok) throw await failureOf(response)
    if (response.body !== null) yield* readFrames(response.body, alive)
  } finally {
    clearTimeout(timer)
    silent.abort()
  }
}

const isOver = (signal: AbortSignal | undefined): boolean => signal?.aborted === true

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the server's contract says these frames carry
const asEvent = (data: string): EventFrame => JSON.parse(data) as EventFrame

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the server's contract says this frame carries
const asChanges = (text: string): SessionChanges => (JSON.parse(text) as { data: SessionChanges }).data

const pause = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal?.addEventListener("abort", done, { once: true })
  })
