/**
 * The `fetch` our providers are given: undici's connections without the objects, headers and streams of a browser's fetch,
 * which cost more than the request (docs/decisions/0030 has the figures). It knows what the AI SDK asks of a response and no
 * more: no redirects, no cookies, no compression.
 */
import { globalAgent } from "node:http"
import { urlToHttpOptions } from "node:url"

import type { Dispatcher } from "undici"

import { openExchange, type Answer, type ByteReader } from "./http-exchange.ts"

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
    const signal = init.signal ?? undefined
    const { origin, path, host, auth } = addressOf(url)
    const { method = "GET", body } = init
    const length = lengthOf(body)
    const connections = opened ?? (await openConnections())
    signal?.throwIfAborted()
    const { handler, answer, reader } = openExchange({ signal, idleMs })
    const request: Dispatcher.DispatchOptions = {
      origin,
      path,
      method,
      headers: Object.entries(
        allHeaders({ host, auth, headers: plainHeaders(init.headers), length, method }),
      ).flat(),
      body: toSend(body, length),
      headersTimeout: idleMs ?? 0,
      bodyTimeout: idleMs ?? 0,
    }
    connections.dispatch(request, handler)
    return toResponse(await answer, reader)
  }

/** How long a connection is silent before the system asks whether the other side is still there. */
const PROBE_MS = 30_000
/** How long a connection may take to come about. */
const CONNECT_MS = 30_000

let opened: Dispatcher | undefined

/** One for the process, as Node's own agent is; what it holds open keeps no process alive. */
const openConnections = async (): Promise<Dispatcher> => {
  const { Agent, EnvHttpProxyAgent } = await import("undici")
  const options = {
    connect: { timeout: CONNECT_MS, keepAlive: true, keepAliveInitialDelay: PROBE_MS },
    allowH2: false,
  }
  opened ??= hasProxy() ? new EnvHttpProxyAgent({ ...options, proxyTunnel: false }) : new Agent(options)
  return opened
}

/** NODE_USE_ENV_PROXY; the types do not know it yet. */
const hasProxy = (): boolean => {
  const options: unknown = Reflect.get(globalAgent, "options")
  return typeof options === "object" && options !== null && Reflect.get(options, "proxyEnv") !== undefined
}

const MOST_ADDRESSES = 64
const addresses = new Map<string, Address>()

/** `host` as the header says it. */
interface Address {
  readonly origin: string
  readonly path: string
  readonly host: string
  readonly auth: string | undefined
}

/** A model is asked at one address again and again; taking it apart costs more than looking it up. */
const addressOf = (url: string): Address => {
  const known = addresses.get(url)
  if (known !== undefined) return known
  const parsed = new URL(url)
  const { auth, path } = urlToHttpOptions(parsed)
  const { origin, host } = parsed
  const address: Address = { origin, host, path: path ?? "/", auth: auth ?? undefined }
  if (addresses.size >= MOST_ADDRESSES) addresses.clear()
  addresses.set(url, address)
  return address
}

const allHeaders = (request: {
  readonly host: string
  readonly auth: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly length: number
  readonly method: string
}): Readonly<Record<string, string>> => {
  const { host, auth, headers, length, method } = request
  return {
    host,
    ...(auth === undefined ? {} : { authorization: `Basic ${Buffer.from(auth).toString("base64")}` }),
    ...headers,
    ...(length === 0 && method === "GET" ? {} : { "content-length": String(length) }),
  }
}

const lengthOf = (body: unknown): number => {
  if (typeof body === "string") return Buffer.byteLength(body)
  if (body instanceof Uint8Array) return body.length
  return isPieces(body) ? body.reduce((sum, piece) => sum + piece.length, 0) : 0
}

const isPieces = (body: unknown): body is readonly Uint8Array[] => Array.isArray(body)

/** Up to here pieces are put together: that costs less than writing them one by one. */
const SMALL_BYTES = 262_144

const toSend = (body: unknown, length: number): string | Uint8Array | null => {
  if (typeof body === "string" || body instanceof Uint8Array) return body
  if (isPieces(body) && length <= SMALL_BYTES) return Buffer.concat(body, length)
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- undici takes whatever can be iterated; its types know streams only
  return isPieces(body) ? (body as unknown as Uint8Array) : null
}

const plainHeaders = (headers: RequestInit["headers"]): Record<string, string> => {
  if (headers === undefined) return {}
  if (headers instanceof Headers || Array.isArray(headers)) return Object.fromEntries(headers)
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  )
}

const toResponse = ({ status, statusText, headers }: Answer, reader: ByteReader): Response => {
  const response = {
    ok: status >= 200 && status < 300,
    status,
    statusText,
    get headers() {
      return new Headers(singleHeaders(headers))
    },
    body: { getReader: () => reader },
  }
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a real Response would wrap the socket in streams that cost more than the turn
  return response as unknown as Response
}

const singleHeaders = (headers: Answer["headers"]): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
  )
