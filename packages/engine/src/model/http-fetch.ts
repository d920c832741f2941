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
    const { origin, path, auth } = addressOf(url)
    const { method = "GET", body } = init
    const connections = opened ?? (await openConnections())
    signal?.throwIfAborted()
    const { handler, answer, reader } = openExchange({ signal, idleMs })
    const headers = listHeaders(init.headers, auth)
    const request: Dispatcher.DispatchOptions = {
      origin,
      path,
      method,
      headers,
      body: toSend(body, headers),
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

/** `auth`: the header that the name and password of an address stand for. */
interface Address {
  readonly origin: string
  readonly path: string
  readonly auth: string | undefined
}

/** A model is asked at one address again and again; taking it apart costs more than looking it up. */
const addressOf = (url: string): Address => {
  const known = addresses.get(url)
  if (known !== undefined) return known
  const parsed = new URL(url)
  const { auth, path } = urlToHttpOptions(parsed)
  const address: Address = {
    origin: parsed.origin,
    path: path ?? "/",
    auth: auth == null ? undefined : `Basic ${Buffer.from(auth).toString("base64")}`,
  }
  if (addresses.size >= MOST_ADDRESSES) addresses.clear()
  addresses.set(url, address)
  return address
}

/** Name after name and value, as undici writes them. It adds the host, and the length, which it knows best. */
const listHeaders = (headers: RequestInit["headers"], auth: string | undefined): string[] => {
  const list: string[] = []
  let authorized = false
  for (const [given, value] of entriesOf(headers)) {
    const name = given.toLowerCase()
    if (name === "content-length") continue
    if (name === "authorization") authorized = true
    list.push(name, String(value))
  }
  if (auth !== undefined && !authorized) list.push("authorization", auth)
  return list
}

const entriesOf = (headers: RequestInit["headers"]): Iterable<readonly [string, unknown]> => {
  if (headers === undefined) return []
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a list of headers is one of pairs
  if (headers instanceof Headers || Array.isArray(headers)) return headers as Iterable<[string, string]>
  return Object.entries(headers)
}

/** Up to here pieces are put together: that costs less than writing them one by one. */
const SMALL_BYTES = 262_144

/** Says the length where undici cannot know it. */
const toSend = (body: unknown, headers: string[]): string | Uint8Array | null => {
  if (typeof body === "string" || body instanceof Uint8Array) return body
  if (!isPieces(body)) return null
  const length = body.reduce((sum, piece) => sum + piece.length, 0)
  if (length <= SMALL_BYTES) return Buffer.concat(body, length)
  headers.push("content-length", String(length))
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- undici takes whatever can be iterated; its types know streams only
  return body as unknown as Uint8Array
}

const isPieces = (body: unknown): body is readonly Uint8Array[] => Array.isArray(body)

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
