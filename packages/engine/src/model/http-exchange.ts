/**
 * One request and its answer, as undici tells of them. By hand, because a web stream costs more than the bytes it carries.
 */
import { systemCode } from "@meridian/protocol"
import type { Dispatcher } from "undici"

export interface ExchangeOptions {
  readonly signal: AbortSignal | undefined
  /** A connection that is silent for this long is given up; undefined: none is. */
  readonly idleMs: number | undefined
  /** Once: the request is on its way, or it is over. */
  readonly onConnected: () => void
}

export interface Exchange {
  readonly handler: Dispatcher.DispatchHandler
  /** Status and headers; rejects when there is no answer. */
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

/** The part of a stream's reader that is used. */
export interface ByteReader {
  readonly read: () => Promise<Read>
  /** What the next read would give if it need not wait. */
  readonly arrived: () => Read | undefined
  readonly cancel: () => Promise<void>
  readonly releaseLock: () => void
}

/** This much waits for the reader; the socket keeps the rest, and the server stops sending. */
const HELD_BYTES = 65_536

/** Of any reader; those that are not ours do not know. */
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

  /** What arrived comes before what went wrong. */
  const arrived = (): Read | undefined => {
    const value = chunks.shift()
    if (value === undefined) return state === "over" && broken === undefined ? OVER : undefined
    held -= value.length
    if (held <= HELD_BYTES && connection?.paused === true) connection.resume()
    return { done: false, value }
  }

  /** Answers the read that waits, if there is one and there is something to say. */
  const tell = (): void => {
    const asked = waiting
    if (asked === undefined) return
    // Taking makes room, and more may arrive right there.
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
    // Heard only by who waits for an answer that never began.
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
        // 103 and its like come before the answer.
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

/** undici's own words for what has a name everywhere else. */
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
