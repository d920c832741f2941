/**
 * Instructions from the web: only http and https, bounded in size and time, never from a private network address unless
 * configured. The connection itself checks the address, so a host name that changes between check and call gains nothing.
 */
import { lookup as resolveName } from "node:dns"
import { request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import { BlockList, isIP, type LookupFunction } from "node:net"

import type { FetchedPage } from "../port/fetched-page.ts"
import { machineDeadline } from "../port/machine-time.ts"

export type UrlText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "absent" }
  | { readonly kind: "unavailable" }

export interface UrlReader {
  readonly read: (url: string) => Promise<UrlText>
}

const MOST_BYTES = 256 * 1024
const TIMEOUT_MS = 5_000
const FRESH_MS = 5 * 60_000
const MOST_REDIRECTS = 3

export const createUrlReader = (options: {
  readonly allowPrivate: boolean
  /** Milliseconds that never go back. */
  readonly monotonic: () => number
}): UrlReader => {
  const known = new Map<string, { readonly at: number; readonly text: UrlText }>()
  return {
    read: async (url) => {
      const cached = known.get(url)
      const now = options.monotonic()
      if (cached !== undefined && now - cached.at < FRESH_MS) return cached.text
      const text = await follow(url, options.allowPrivate, MOST_REDIRECTS)
      // While a server is unreachable, its last text stays in force.
      if (text.kind === "unavailable") return cached?.text ?? text
      known.set(url, { at: now, text })
      return text
    },
  }
}

const follow = async (url: string, allowPrivate: boolean, redirects: number): Promise<UrlText> => {
  const parsed = URL.parse(url)
  if (parsed === null || (parsed.protocol !== "http:" && parsed.protocol !== "https:"))
    return { kind: "unavailable" }
  const host = parsed.hostname.replace(/^\[|\]$/g, "")
  if (!allowPrivate && isIP(host) !== 0 && isPrivate(host)) return { kind: "unavailable" }
  const answer = await get(parsed, allowPrivate)
  if (answer.kind !== "redirect") return answer
  return redirects === 0
    ? { kind: "unavailable" }
    : follow(new URL(answer.to, parsed).href, allowPrivate, redirects - 1)
}

const get = (
  url: URL,
  allowPrivate: boolean,
): Promise<UrlText | { readonly kind: "redirect"; readonly to: string }> =>
  new Promise((resolve) => {
    const unavailable = () => resolve({ kind: "unavailable" })
    const request = (url.protocol === "https:" ? requestHttps : requestHttp)(
      url,
      { lookup: guardedLookup(allowPrivate), timeout: TIMEOUT_MS, signal: machineDeadline(TIMEOUT_MS) },
      (response) => {
        const status = response.statusCode ?? 0
        const { location } = response.headers
        if (status >= 300 && status < 400 && location !== undefined) {
          response.destroy()
          resolve({ kind: "redirect", to: location })
          return
        }
        if (status === 404 || status === 410) {
          response.destroy()
          resolve({ kind: "absent" })
          return
        }
        if (status !== 200) {
          response.destroy()
          unavailable()
          return
        }
        const chunks: Buffer[] = []
        let bytes = 0
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > MOST_BYTES) response.destroy(new Error("too large"))
          else chunks.push(chunk)
        })
        response.on("error", unavailable)
        response.on("end", () => resolve({ kind: "text", text: Buffer.concat(chunks).toString("utf8") }))
      },
    )
    request.on("error", unavailable)
    request.on("timeout", () => request.destroy())
    request.end()
  })

/** One request for a page that a tool call or a prompt asked for, under the same guard. Never rejects. */
export const fetchPage = (
  url: URL,
  {
    allowPrivate,
    bytes: most,
    timeoutMs,
    signal,
  }: {
    readonly allowPrivate: boolean
    readonly bytes: number
    readonly timeoutMs: number
    readonly signal: AbortSignal
  },
): Promise<FetchedPage> =>
  new Promise((resolve) => {
    const failed = (error: Error): void => resolve({ kind: "failed", why: error.message.slice(0, 200) })
    const host = url.hostname.replace(/^\[|\]$/g, "")
    if (!allowPrivate && isIP(host) !== 0 && isPrivate(host))
      return failed(new Error("the address is private"))
    const request = (url.protocol === "https:" ? requestHttps : requestHttp)(
      url,
      {
        lookup: guardedLookup(allowPrivate),
        timeout: timeoutMs,
        signal,
        headers: {
          accept: "text/html, text/plain, application/json;q=0.9, */*;q=0.1",
          "user-agent": "meridian",
        },
      },
      (response) => {
        const { statusCode: status = 0, headers } = response
        if (status >= 300 && status < 400 && headers.location !== undefined) {
          response.destroy()
          return resolve({ kind: "redirect", to: headers.location })
        }
        const type = (headers["content-type"] ?? "text/plain").split(";", 1)[0]?.trim().toLowerCase() ?? ""
        if (!/^(?:text\/|application\/(?:.*\+)?(?:json|xml|javascript))/u.test(type)) {
          response.destroy()
          return failed(new Error(`it is ${type.slice(0, 100)}, which is no text`))
        }
        const chunks: Buffer[] = []
        let bytes = 0
        const done = (cut: boolean): void =>
          resolve({
            kind: "page",
            status,
            type,
            body: new TextDecoder().decode(Buffer.concat(chunks).subarray(0, most), { stream: cut }),
            cut,
          })
        response.on("data", (chunk: Buffer) => {
          chunks.push(chunk)
          bytes += chunk.length
          if (bytes <= most) return
          done(true)
          response.destroy()
        })
        response.on("error", failed)
        response.on("end", () => done(false))
      },
    )
    request.on("error", failed)
    request.on("timeout", () => request.destroy(new Error("it did not answer in time")))
    request.end()
  })

const guardedLookup =
  (allowPrivate: boolean): LookupFunction =>
  (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, "", 0)
        return
      }
      const usable = addresses.filter(({ address }) => allowPrivate || !isPrivate(address))
      const [first] = usable
      if (first === undefined) {
        callback(new Error("the address is private"), "", 0)
        return
      }
      if (options.all === true) callback(null, usable)
      else callback(null, first.address, first.family)
    })
  }

/** Recognises an IPv4 address inside an IPv6 one too, in any spelling. */
const isPrivate = (address: string): boolean =>
  privateNetworks().check(address, isIP(address) === 4 ? "ipv4" : "ipv6")

const privateNetworks = (): BlockList => {
  const list = new BlockList()
  for (const [network, bits] of [
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["224.0.0.0", 3],
  ] as const)
    list.addSubnet(network, bits, "ipv4")
  for (const [network, bits] of [
    ["::", 127],
    ["64:ff9b::", 96],
    ["fc00::", 7],
    ["fe80::", 10],
    ["ff00::", 8],
  ] as const)
    list.addSubnet(network, bits, "ipv6")
  return list
}
