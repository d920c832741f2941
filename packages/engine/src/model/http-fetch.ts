/**
 * The `fetch` our providers are given: `node:http` with Node's own keep-alive agents, and nothing of what a browser's
 * fetch does besides. It takes about a quarter of a millisecond off a turn (docs/decisions has the figures). It knows what the
 * AI SDK asks of a response and no more: no redirects, no cookies, no compression.
 */
import {
  globalAgent,
  request as requestHttp,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http"
import { request as requestHttps } from "node:https"
import { urlToHttpOptions } from "node:url"

/** As the AI SDK calls it; and with a body in pieces, which are sent as they lie. */
export type Fetch = (
  input: Parameters<typeof globalThis.fetch>[0],
  init?: Omit<RequestInit, "body"> & { readonly body?: RequestInit["body"] | readonly Uint8Array[] },
) => Promise<Response>

export interface HttpFetchOptions {
  /** A connection that is silent for this long is given up; by default none is, models may think for minutes. */
  readonly idleMs?: number
}

export const openHttpFetch =
  ({ idleMs }: HttpFetchOptions = {}): Fetch =>
  async (input, init = {}) => {
    const url = input instanceof Request ? input.url : String(input)
    init.signal?.throwIfAborted()
    const { host, ...address } = addressOf(url)
    const { method = "GET", body } = init
    const headers = allHeaders({
      host,
      auth: address.auth,
      headers: plainHeaders(init.headers),
      method,
      body,
    })
    const options: RequestOptions = {
      ...address,
      method,
      // As a list, Node writes them as they are; set one by one, each is looked up and checked twice. A proxy adds its own.
      headers: hasProxy() ? headers : Object.entries(headers).flat(),
      ...(idleMs === undefined ? {} : { timeout: idleMs }),
    }
    const incoming = await send(options, body, init.signal ?? undefined)
    return toResponse(incoming)
  }

/** How long a connection is silent before the system asks whether the other side is still there. */
const PROBE_MS = 30_000

const send = (
  options: RequestOptions,
  body: unknown,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const start = options.protocol === "https:" ? requestHttps : requestHttp
    const request = start(options, resolve)
    request.once("error", reject)
    // Node's own way of passing a signal listens in four places.
    const abort = (): void => {
      request.destroy(signal?.reason instanceof Error ? signal.reason : new Error("aborted"))
    }
    signal?.addEventListener("abort", abort, { once: true })
    request.once("close", () => signal?.removeEventListener("abort", abort))
    // A peer that is gone without a word is noticed by the system, however long the model thinks.
    request.once("socket", (socket) => {
      if (!request.reusedSocket) socket.setKeepAlive(true, PROBE_MS)
    })
    // Node's agents have a limit of their own for connections that nobody uses, and report it for used ones too.
    if (options.timeout !== undefined)
      request.once("timeout", () => {
        request.destroy(Object.assign(new Error(`silent for ${options.timeout} ms`), { code: "ETIMEDOUT" }))
      })
    if (typeof body === "string" || body instanceof Uint8Array) request.end(body)
    else if (isPieces(body)) sendPieces(request, body)
    else request.end()
  })

const MOST_ADDRESSES = 64
const addresses = new Map<string, Address>()

/** `host` as the header says it. */
type Address = Pick<RequestOptions, "auth" | "port" | "protocol" | "hostname" | "path"> & {
  readonly host: string
}

/** A model is asked at one address again and again; taking it apart costs more than looking it up. */
const addressOf = (url: string): Address => {
  const known = addresses.get(url)
  if (known !== undefined) return known
  const parsed = new URL(url)
  const { auth, hostname, path, port, protocol } = urlToHttpOptions(parsed)
  const address: Address = {
    host: parsed.host,
    ...(auth == null ? {} : { auth }),
    ...(port == null ? {} : { port }),
    ...(protocol == null ? {} : { protocol }),
    hostname: hostname ?? "",
    path: path ?? "/",
  }
  if (addresses.size >= MOST_ADDRESSES) addresses.clear()
  addresses.set(url, address)
  return address
}

const allHeaders = (request: {
  readonly host: string
  readonly auth: string | null | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly method: string
  readonly body: unknown
}): Readonly<Record<string, string>> => {
  const { host, auth, headers, method, body } = request
  const length = lengthOf(body)
  return {
    host,
    ...(auth == null ? {} : { authorization: `Basic ${Buffer.from(auth).toString("base64")}` }),
    ...headers,
    ...(length === 0 && method === "GET" ? {} : { "content-length": String(length) }),
  }
}

/** NODE_USE_ENV_PROXY; the types do not know it yet. */
const hasProxy = (): boolean => {
  const options: unknown = Reflect.get(globalAgent, "options")
  return typeof options === "object" && options !== null && Reflect.get(options, "proxyEnv") !== undefined
}

const lengthOf = (body: unknown): number => {
  if (typeof body === "string") return Buffer.byteLength(body)
  if (body instanceof Uint8Array) return body.length
  return isPieces(body) ? body.reduce((sum, piece) => sum + piece.length, 0) : 0
}

const isPieces = (body: unknown): body is readonly Uint8Array[] => Array.isArray(body)

const sendPieces = (request: ClientRequest, pieces: readonly Uint8Array[]): void => {
  for (const piece of pieces) request.write(piece)
  request.end()
}

const plainHeaders = (headers: RequestInit["headers"]): Record<string, string> => {
  if (headers === undefined) return {}
  if (headers instanceof Headers || Array.isArray(headers)) return Object.fromEntries(headers)
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  )
}

const toResponse = (incoming: IncomingMessage): Response => {
  const status = incoming.statusCode ?? 0
  // Whoever reads hears of an error from the reader; without one it must not end the process.
  incoming.on("error", () => {})
  const response = {
    ok: status >= 200 && status < 300,
    status,
    statusText: incoming.statusMessage ?? "",
    get headers() {
      return new Headers(singleHeaders(incoming))
    },
    body: { getReader: () => readerOf(incoming) },
  }
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a real Response would wrap the socket in streams that cost more than the turn
  return response as unknown as Response
}

const singleHeaders = ({ headers }: IncomingMessage): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
  )

const closedEarly = (): Error => Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" })

type Read =
  | { readonly done: false; readonly value: Buffer }
  | { readonly done: true; readonly value: undefined }

/** The part of a stream's reader that is used, by hand: the ready-made ones cost more than the bytes they carry. */
const readerOf = (incoming: IncomingMessage) => {
  const arrived: Buffer[] = []
  let waiting: PromiseWithResolvers<Read> | undefined
  let broken: Error | undefined

  /** Answers the read that waits, if one does; what arrived comes before what went wrong. */
  const settle = (): void => {
    if (waiting === undefined) return
    const next = arrived.shift()
    if (next !== undefined) waiting.resolve({ done: false, value: next })
    else if (broken !== undefined) waiting.reject(broken)
    else waiting.resolve({ done: true, value: undefined })
    waiting = undefined
  }
  incoming.on("data", (chunk: Buffer) => {
    arrived.push(chunk)
    // One chunk waits for the reader at most; the socket keeps the rest, and the provider stops sending.
    if (waiting === undefined) incoming.pause()
    else settle()
  })
  incoming.once("end", settle)
  incoming.once("error", (error) => {
    broken = error
    settle()
  })
  incoming.once("close", () => {
    if (!incoming.readableEnded) broken ??= closedEarly()
    settle()
  })

  return {
    read: (): Promise<Read> => {
      waiting = Promise.withResolvers()
      const { promise } = waiting
      if (arrived.length > 0 || broken !== undefined || incoming.readableEnded) settle()
      else incoming.resume()
      return promise
    },
    cancel: async (): Promise<void> => {
      incoming.destroy()
    },
    releaseLock: (): void => {},
  }
}
