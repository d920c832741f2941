/** Sends one request to a collector, and says what to do when it was not accepted. Never throws. */
import { gzipSync } from "node:zlib"

import type { JsonObject } from "@meridian/protocol"

import type { Endpoint } from "./settings.ts"

export type Sent =
  | { readonly tag: "taken" }
  /** The same request would be refused again. */
  | { readonly tag: "refused"; readonly why: string }
  | { readonly tag: "later"; readonly why: string; readonly afterMs?: number }

export type PostJson = (
  endpoint: Endpoint,
  body: JsonObject,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<Sent>

const GZIP_ABOVE = 4_096
const LONGEST_WAIT_MS = 300_000

export const postJson: PostJson = async ({ url, headers }, body, { timeoutMs, signal }) => {
  const text = JSON.stringify(body)
  const isLarge = text.length > GZIP_ABOVE
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        ...(isLarge ? { "content-encoding": "gzip" } : {}),
      },
      body: isLarge ? new Uint8Array(gzipSync(text)) : text,
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    // The body is not needed; left unread it would keep the connection busy.
    await response.body?.cancel()
    if (response.ok) return { tag: "taken" }
    const why = `the collector answered ${response.status}`
    // According to the OTLP specification, these may pass and the others will not. Wrong credentials may be corrected.
    if ([401, 403, 404, 408, 429, 502, 503, 504].includes(response.status))
      return { tag: "later", why, ...retryAfter(response.headers.get("retry-after")) }
    return { tag: response.status >= 500 ? "later" : "refused", why }
  } catch (error) {
    return { tag: "later", why: error instanceof Error ? error.message : String(error) }
  }
}

const retryAfter = (value: string | null): { readonly afterMs?: number } => {
  const seconds = Number(value)
  return value === null || !(seconds > 0) ? {} : { afterMs: Math.min(seconds * 1_000, LONGEST_WAIT_MS) }
}
