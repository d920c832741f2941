/** Sends one request to a collector, and says what to do when it was not accepted. Never throws. */
import { gzipSync } from "node:zlib"

import { isJsonObject, oneLine, parseObject, systemCode, type JsonObject } from "@meridian/protocol"

import type { Endpoint } from "./settings.ts"

export type Sent =
  /** `without`: what the collector left out, in its own words. */
  | { readonly tag: "taken"; readonly without?: string }
  /** The same request would be refused again. A smaller one may be accepted. */
  | { readonly tag: "refused"; readonly why: string; readonly isTooMuch: boolean }
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
    if (response.ok) return taken(await beginning(response))
    // Left unread, the body would keep the connection busy.
    void response.body?.cancel().catch(() => undefined)
    const why = `the collector answered ${response.status}`
    // According to the OTLP specification, these may pass and the others will not. Wrong credentials may be corrected.
    if ([401, 403, 404, 408, 429, 502, 503, 504].includes(response.status))
      return { tag: "later", why, ...retryAfter(response.headers.get("retry-after")) }
    if (response.status >= 500) return { tag: "later", why }
    return { tag: "refused", why, isTooMuch: response.status === TOO_MUCH }
  } catch (error) {
    return { tag: "later", why: oneLine(reasonOf(error), MOST_CHARACTERS) }
  }
}

const TOO_MUCH = 413
const MOST_CHARACTERS = 200
const ANSWER_BYTES = 64 * 1024

/** Reads the start of a positive answer. Whatever its text, the request was accepted. */
const beginning = async ({ body }: Response): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  try {
    for await (const bytes of body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      if (text.length > ANSWER_BYTES) break
    }
  } catch {
    return ""
  }
  return text
}

/** A collector that accepts only a part says how much it left out. That part must not be sent again. */
const taken = (answer: string): Sent => {
  const partial = parseObject(answer)?.["partialSuccess"]
  if (!isJsonObject(partial)) return { tag: "taken" }
  const count = Number(partial["rejectedSpans"] ?? partial["rejectedDataPoints"] ?? 0)
  const { errorMessage: said } = partial
  if (!(count > 0)) return { tag: "taken" }
  const words = typeof said === "string" ? `: ${oneLine(said, MOST_CHARACTERS)}` : ""
  return { tag: "taken", without: `the collector left out ${count} of what it was sent${words}` }
}

/** For a failed connection fetch only says that it failed, and the cause may have just a code. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return cause.message || (systemCode(cause) ?? error.message)
}

const retryAfter = (value: string | null): { readonly afterMs?: number } => {
  const seconds = Number(value)
  return value === null || !(seconds > 0) ? {} : { afterMs: Math.min(seconds * 1_000, LONGEST_WAIT_MS) }
}
