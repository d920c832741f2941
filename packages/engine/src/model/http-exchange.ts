/**
 * One request and its answer, from undici's callbacks. Written by hand, because a web stream costs more than the bytes it
 * carries.
 */
import { systemCode } from "@meridian/protocol"
import type { Dispatcher } from "undici"

export interface ExchangeOptions {
  readonly signal: AbortSignal | undefined
  /** A connection that is silent for this long is given up. Undefined: never. */
  readonly idleMs: number | undefined
  /** Called once, when the request is on its way or over. */
  readonly onConnected: () => void
}

export interface Exchange {
  readonly handler: Dispatcher.DispatchHandler
  /** Status and headers. Rejects when there is no answer. */
  readonly answer: Promise<Answer>
  readonly reader: ByteReader
}

export interface Answer {
  readonly status: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export type Read =
  | { readonly done: false; readonly value: Buffer }
  | { readonly done: true; readonly value: undefined }

/** The part of a stream reader that we use. */
export interface ByteReader {
  readonly read: () => Promise<Read>
  /** What the next read would return without waiting. */
  readonly arrived: () => Read | undefined
  readonly cancel: () => Promise<void>
  readonly releaseLock: () => void
}

/** This much is held for the reader. The socket holds the rest, and then the server stops sending. */
const HELD_BYTES = 65_536

/** Works for any reader; one that is not ours returns undefined. */
export const arrivedIn = (reader: object | undefined): Read | undefined =>
  isByteReader(reader) ? reader.arrived() : undefined

const isByteReader = (reader: object | undefined): reader is ByteReader =>
  reader !== undefined && "arrived" in reader

export const OVER: Read = { done: true, value: undefined }

export const openExchange = ({ signal, idleMs, onConnected }: ExchangeOptions): Exchange => {
  const answer = Promise.withResolvers<Answer>()
  const chunks: Buffer[] = []
  let held = 0
  let state: "open" | "over" = "open"
  let broken: Error | undefined
  let waiting: PromiseWithResolvers<Read> | undefined
  let connection: Dispatcher.DispatchController | undefined

  /** What arrived before an error is read first. */
  const arrived = (): Read | undefined => {
    const value = chunks.shift()
    if (value === undefined) return state === "over" && broken === undefined ? OVER : undefined
    held -= value.length
    if (held <= HELD_BYTES && connection?.paused === true) connection.resume()
    return { done: false, value }
  }

  /** Answers the waiting read, if there is one and something to return. */
  const tell = (): void => {
    const asked = waiting
    if (asked === undefined) return
    // Taking makes room, so more may arrive at once.
    waiting = undefined
    const next = arrived()
    if (next !== undefined) asked.resolve(next)
    else if (broken !== undefined) asked.reject(broken)
    else waiting = asked
  }

  const end = (error?: Error): void => {
    if (state === "over") return
    state = "over"
    broken = error
    onConnected()
    signal?.removeEventListener("abort", abort)
    // Matters only to a caller that waits for an answer that never began.
    if (error !== undefined) answer.reject(error)
    tell()
  }

  const leave = (reason: Error): void => {
    end(reason)
    connection?.abort(reason)
  }

  const abort = (): void => leave(signal?.reason instanceof Error ? signal.reason : new Error("aborted"))

  signal?.addEventListener("abort", abort, { once: true })

  return {
    handler: {
      onRequestStart: (controller) => {
        connection = controller
        onConnected()
        if (broken !== undefined) controller.abort(broken)
      },
      onResponseStart: (_controller, status, headers, statusText = "") => {
        // 1xx responses, such as 103, come before the answer.
        if (status >= 200) answer.resolve({ status, statusText, headers })
      },
      onResponseData: (controller, chunk) => {
        chunks.push(chunk)
        held += chunk.length
        tell()
        if (held > HELD_BYTES) controller.pause()
      },
      onResponseEnd: () => end(),
      onResponseError: (_controller, error) => end(inOurWords(error, idleMs)),
    },
    answer: answer.promise,
    reader: {
      read: () => {
        waiting = Promise.withResolvers()
        const { promise } = waiting
        tell()
        return promise
      },
      arrived,
      cancel: async () => {
        leave(closedEarly())
      },
      releaseLock: () => {},
    },
  }
}

/** Translates undici's own wording into common error codes. */
const inOurWords = (error: Error, idleMs: number | undefined): Error => {
  const { message, name } = error
  if (/\b407\b/.test(message)) return Object.assign(new Error(`The proxy: ${message}`), { statusCode: 407 })
  if (name === "HTTPParserError") return Object.assign(new Error(message), { code: "EPROTO" })
  switch (systemCode(error)) {
    case "UND_ERR_SOCKET":
      return closedEarly(error)
    case "UND_ERR_HEADERS_TIMEOUT":
    case "UND_ERR_BODY_TIMEOUT":
      return Object.assign(new Error(`silent for ${idleMs} ms`), { code: "ETIMEDOUT" })
    default:
      return error
  }
}

const closedEarly = (cause?: Error): Error =>
  Object.assign(new Error("the connection was closed", { cause }), { code: "ECONNRESET" })
