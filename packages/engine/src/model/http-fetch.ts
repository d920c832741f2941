/**
 * The `fetch` for our providers: undici's connections without the objects, headers and streams of a browser's fetch, which
 * cost more than the request (docs/decisions/0030 has the figures). It supports only what the AI SDK uses: no redirects, no
 * cookies, no compression.
 */
import { urlToHttpOptions } from "node:url"

import type { Dispatcher } from "undici"

import { openConnections, type Connections } from "./http-connections.ts"
import { openExchange, type Answer, type ByteReader } from "./http-exchange.ts"

/** As the AI SDK calls it, and also with a body in pieces, which are sent without joining them. */
export type Fetch = (
  input: Parameters<typeof globalThis.fetch>[0],
  init?: Omit<RequestInit, "body"> & { readonly body?: RequestInit["body"] | readonly Uint8Array[] },
) => Promise<Response>

export interface HttpFetchOptions {
  /** A connection that is silent for this long is given up. Default: never, because models may think for minutes. */
  readonly idleMs?: number
}

/** One set of connections for the fetches of all models, opened with the first request. */
export const openHttp = (): ((options?: HttpFetchOptions) => Fetch) => {
  const addressOf = openAddresses()
  let opening: Promise<Connections> | undefined
  return ({ idleMs } = {}) =>
    async (input, init = {}) => {
      const url = input instanceof Request ? input.url : String(input)
      const signal = init.signal ?? undefined
      const { origin, path, auth } = addressOf(url)
      const { method = "GET", body } = init
      opening ??= openConnections()
      const connections = await opening
      signal?.throwIfAborted()
      const headers = listHeaders(init.headers, auth)
      const request: Dispatcher.DispatchOptions = {
        origin,
        path,
        method,
        headers,
        body: toSend(body, headers, idleMs),
        headersTimeout: idleMs ?? 0,
        bodyTimeout: idleMs ?? 0,
      }
      const onConnected = connections.expect(origin)
      const { handler, answer, reader } = openExchange({ signal, idleMs, onConnected })
      connections.dispatch(request, handler)
      return toResponse(await answer, reader)
    }
}

/** `auth`: the header for the user name and password in a URL. */
interface Address {
  readonly origin: string
  readonly path: string
  readonly auth: string | undefined
}

const MOST_ADDRESSES = 64

/** A model always uses the same URL, and parsing it costs more than a lookup. */
const openAddresses = (): ((url: string) => Address) => {
  const addresses = new Map<string, Address>()
  return (url) => {
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
}

/** Header names and values in turn, as undici writes them. It adds the host, and the length, which it knows best. */
const listHeaders = (headers: RequestInit["headers"], auth: string | undefined): string[] => {
  const byName = new Map<string, string>(auth === undefined ? [] : [["authorization", auth]])
  for (const [name, value] of entriesOf(headers)) byName.set(name.toLowerCase(), String(value))
  byName.delete("content-length")
  return [...byName].flat()
}

const entriesOf = (headers: RequestInit["headers"]): Iterable<readonly [string, unknown]> => {
  if (headers === undefined) return []
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a list of headers is one of pairs
  if (headers instanceof Headers || Array.isArray(headers)) return headers as Iterable<[string, string]>
  return Object.entries(headers)
}

/** Up to this size pieces are joined, because that costs less than writing them one by one. */
const SMALL_BYTES = 262_144

/**
 * Adds the length where undici cannot know it. With a silence limit, large pieces are split, because each sent piece is a
 * sign of life.
 */
const toSend = (body: unknown, headers: string[], idleMs: number | undefined): string | Uint8Array | null => {
  if (typeof body === "string" || body instanceof Uint8Array) return body
  if (!isPieces(body)) return null
  const length = body.reduce((sum, piece) => sum + piece.length, 0)
  if (length <= SMALL_BYTES) return Buffer.concat(body, length)
  headers.push("content-length", String(length))
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- undici takes whatever can be iterated; its types know streams only
  return (idleMs === undefined ? body : body.flatMap(cut)) as unknown as Uint8Array
}

const CUT_BYTES = 65_536

const cut = (piece: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(piece.length / CUT_BYTES) }, (_unused, index) =>
    piece.subarray(index * CUT_BYTES, (index + 1) * CUT_BYTES),
  )

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
