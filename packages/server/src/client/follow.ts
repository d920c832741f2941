/**
 * Streams that survive broken connections. The cursor is the sequence of the last event passed on. Only durable frames move
 * it, so after any interruption the next event is the next one in the log.
 */
import type { LiveEvent, StoredEvent, SyncedMarker, UnknownEvent } from "@meridian/protocol"

import { CHANGES_ADDRESS, EVENTS_ADDRESS } from "../contract/addresses.ts"
import type { SessionChanges } from "../contract/documents.ts"
import { fillPath, queryOf } from "./address.ts"
import { HttpFailure, isFinal, offline } from "./http-failure.ts"
import { readFrames, type Frame } from "./read-frames.ts"
import { send, type Connection } from "./send.ts"

export type EventFrame =
  | StoredEvent
  | UnknownEvent
  | SyncedMarker
  | LiveEvent
  | { readonly type: "dropped"; readonly data: { readonly count: number } }
  /** The connection was lost and will be reopened. Live fragments may be missing. */
  | { readonly type: "reconnecting"; readonly data: { readonly after: number } }

export interface StreamOptions {
  readonly signal?: AbortSignal
  /** The wait before the first reconnect. It doubles, up to twenty times this value. */
  readonly reconnectMs?: number
  /** A connection that is silent for longer is dead. The server sends a sign of life every 15 s. */
  readonly silenceMs?: number
  /** Called with the reason each time a connection is lost. */
  readonly lost?: (failure: HttpFailure) => void
}

export interface FollowOptions extends StreamOptions {
  readonly sessionID: string
  readonly after?: number
  /** Includes fragments of the model's output. */
  readonly live?: boolean
  /** False: ends where the replay ends. */
  readonly follow?: boolean
}

/** Every durable event after the cursor, once and in order, in batches as they arrive. */
export async function* followEvents(
  connection: Connection,
  options: FollowOptions,
): AsyncGenerator<readonly EventFrame[], void, void> {
  const { sessionID, live = false, follow = true } = options
  let after = options.after ?? 0
  let isComplete = false
  const connect = async function* (): AsyncGenerator<readonly EventFrame[], void, void> {
    const { path } = fillPath(EVENTS_ADDRESS.path, { sessionID })
    for await (const frames of openFrames(
      connection,
      `${path}${queryOf({ after, live, follow })}`,
      options,
    )) {
      const told = frames.filter(({ name }) => name !== "closed")
      after = Number(told.findLast(({ id }) => id !== undefined)?.id ?? after)
      isComplete = !follow && told.some(({ name }) => name === "synced")
      if (told.length > 0) yield told.map(({ data }) => asEvent(data))
      if (isComplete) return
    }
  }
  yield* again(connect, {
    ...options,
    isComplete: () => isComplete,
    between: () => [[{ type: "reconnecting", data: { after } }]],
  })
}

/** Which sessions changed. The first answer, and the first after a reconnect, says that any may have. */
export async function* followChanges(
  connection: Connection,
  options: StreamOptions,
): AsyncGenerator<SessionChanges, void, void> {
  const connect = async function* (): AsyncGenerator<SessionChanges, void, void> {
    for await (const frames of openFrames(connection, CHANGES_ADDRESS.path, options))
      for (const { name, data } of frames) if (name === "changed") yield asChanges(data)
  }
  yield* again(connect, { ...options, isComplete: () => false, between: () => [] })
}

const RECONNECT_MS = 500
const SILENCE_MS = 45_000
const LONGEST_BACK_OFF = 20

/** Connects repeatedly until everything has arrived, the caller stops, or the server refuses. */
async function* again<Item>(
  connect: () => AsyncGenerator<Item, void, void>,
  options: StreamOptions & {
    readonly isComplete: () => boolean
    /** Items to pass on before each new attempt. */
    readonly between: () => readonly Item[]
  },
): AsyncGenerator<Item, void, void> {
  const { signal, reconnectMs = RECONNECT_MS, lost, isComplete, between } = options
  let failures = 0
  while (!isOver(signal)) {
    try {
      for await (const item of connect()) {
        failures = 0
        yield item
      }
      if (isComplete()) return
    } catch (cause) {
      if (isOver(signal)) return
      const failure = cause instanceof HttpFailure ? cause : offline(cause)
      if (isFinal(failure)) throw failure
      lost?.(failure)
    }
    if (isOver(signal)) return
    yield* between()
    await pause(reconnectMs * Math.min(2 ** failures, LONGEST_BACK_OFF), signal)
    failures += 1
  }
}

/** One connection, which is given up when it goes silent. */
export async function* openFrames(
  connection: Connection,
  path: string,
  { signal, silenceMs = SILENCE_MS }: StreamOptions,
): AsyncGenerator<readonly Frame[], void, void> {
  const silent = new AbortController()
  const giveUp = (): void => silent.abort(new Error("nothing came for too long"))
  let timer = setTimeout(giveUp, silenceMs)
  const alive = (): void => {
    clearTimeout(timer)
    timer = setTimeout(giveUp, silenceMs)
  }
  try {
    const response = await send(connection, path, {
      headers: { accept: "text/event-stream" },
      cache: "no-store",
      signal: signal === undefined ? silent.signal : AbortSignal.any([signal, silent.signal]),
    })
    if (response.body !== null) yield* readFrames(response.body, alive)
  } finally {
    clearTimeout(timer)
    silent.abort()
  }
}

const isOver = (signal: AbortSignal | undefined): boolean => signal?.aborted === true

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server has checked every event it sends
const asEvent = (data: string): EventFrame => JSON.parse(data) as EventFrame

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract says what this frame carries
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
