/**
 * Gives every provider failure one kind. Errors arrive as classes of the AI SDK, as plain objects from inside a stream, or
 * as whatever a socket threw. All are read by shape, because a class check would miss plain objects.
 */
import { oneLine } from "@meridian/protocol"

import { ModelFailure, type ModelFailureFacts, type ModelFailureKind } from "../port/model.ts"
import { isOverflow } from "./overflow.ts"
import { redact } from "./redact.ts"
import { retryAfterMs } from "./retry-after.ts"

export interface FailureSurroundings {
  /** Milliseconds since the epoch. A provider may give its return as a date. */
  readonly now: number
  /** Credentials in use. */
  readonly secrets: readonly string[]
}

export const MESSAGE_LIMIT = 2_000

/**
 * The cause is dropped on purpose: an AI SDK error carries the whole request with its headers, which would keep a session's
 * prompt in memory and put keys into logs.
 */
export const toModelFailure = (error: unknown, surroundings: FailureSurroundings): ModelFailure =>
  error instanceof ModelFailure ? error : new ModelFailure(classify(readError(error), surroundings))

/** Everything an error says about itself, wherever it keeps it. */
interface ErrorReading {
  readonly name: string
  readonly message: string
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  /** Codes and types, from the error itself and from its data. */
  readonly codes: readonly string[]
  /** The code of the socket or the name lookup, anywhere in the chain of causes. */
  readonly networkCode: string | undefined
  readonly text: string
  readonly retryable: boolean
}

/** How much of a body is read. */
const BODY_LIMIT = 16_384

const readError = (error: unknown): ErrorReading => {
  const fields = asRecord(error)
  const data = asRecord(fields["data"])
  const inner = [
    fields,
    asRecord(fields["error"]),
    asRecord(data["error"]),
    data,
    asRecord(asRecord(data["response"])["error"]),
  ]
  const body = asText(fields["responseBody"]).slice(0, BODY_LIMIT)
  // Some servers send no object: `{"error": "what happened"}`.
  const bare = typeof error === "string" ? error : asText(data["error"])
  const said = inner.map((one) => asText(one["message"])).find(isWords) ?? bare
  const networkCode = findNetworkCode(error)
  const message = describe({ said, body, networkCode, parsed: fields["data"] !== undefined })
  const status = fields["statusCode"] ?? fields["status"]
  return {
    name: asText(fields["name"]),
    message,
    status: typeof status === "number" && status >= 300 ? status : undefined,
    headers: asHeaders(fields["responseHeaders"]),
    codes: inner.flatMap((one) => [asText(one["code"]), asText(one["type"])]).filter(isWords),
    networkCode,
    text: `${message} ${body} ${error instanceof Error ? "" : shorten(error)}`,
    retryable: fields["isRetryable"] === true,
  }
}

const classify = (reading: ErrorReading, { now, secrets }: FailureSurroundings): ModelFailureFacts => {
  const kind = kindOf(reading)
  const wait = retryAfterMs({ headers: reading.headers, text: reading.text, now })
  const waits = wait !== undefined && (kind === "rate" || kind === "overloaded")
  return {
    kind,
    message: oneLine(redact(reading.message, secrets), MESSAGE_LIMIT),
    ...(reading.status === undefined ? {} : { status: reading.status }),
    ...(waits ? { retryAfterMs: wait } : {}),
  }
}

/** By the error's name, for errors that were never an answer of the provider. */
const BY_NAME: Readonly<Record<string, ModelFailureKind>> = {
  AI_LoadAPIKeyError: "authentication",
  AI_InvalidResponseDataError: "invalid-output",
  AI_JSONParseError: "invalid-output",
  AI_TypeValidationError: "invalid-output",
  AI_EmptyResponseBodyError: "invalid-output",
  AI_NoContentGeneratedError: "invalid-output",
  AI_UnsupportedFunctionalityError: "invalid-request",
  AI_InvalidPromptError: "invalid-request",
  AI_InvalidArgumentError: "invalid-request",
  AI_NoSuchModelError: "invalid-request",
  AI_LoadSettingError: "invalid-request",
}

const BILLING =
  /insufficient_quota|billing_error|credit balance|exceeded your current quota|insufficient (credits|balance|funds)|payment required/i
const POLICY =
  /content_filter|content_policy|content filtering policy|content management policy|responsible ai|usage polic|flagged|moderation|data_inspection_failed|blocked by .{0,30}(policy|safety)/i
const THROTTLED =
  /rate.?limit|usage.?limit|too many requests|throttl|resource_exhausted|per (minute|min|hour|day)\b|\b[tr]p[md]\b/i
const BUSY =
  /overloaded|server_error|api_error|internal_error|service_unavailable|timeout_error|internal server error/i
const REFUSED =
  /authentication|invalid_api_key|invalid x-api-key|permission_error|permission_denied|unauthorized|unauthenticated/i
/** Google sends this with the status of an invalid request. */
const BAD_KEY = /api[ _]key[ _](not valid|invalid|expired)|api key has expired/i
/** Google words every limit as an exhausted quota. One that says when to come back passes on its own. */
const COMES_BACK = /please retry in \d|"retryDelay":\s*"\d/i

/**
 * The order matters. An error's own name comes before its status, because the AI SDK invents a status for errors inside a
 * stream. Narrow checks come before wide ones.
 */
const kindOf = (reading: ErrorReading): ModelFailureKind => {
  const { name, status, codes, text } = reading
  const named = BY_NAME[name]
  if (named !== undefined) return named
  if (isOverflow({ status, codes, text })) return "overflow"
  const called = codes.join(" ")
  const words = `${called} ${text}`
  if (status === 429 && COMES_BACK.test(text)) return "rate"
  if (status === 402 || BILLING.test(words)) return "authentication"
  if (POLICY.test(called) || ((status === undefined || status < 429) && POLICY.test(text))) return "content"
  if (status === 401 || status === 403 || status === 407 || REFUSED.test(called)) return "authentication"
  if (status === 400 && BAD_KEY.test(text)) return "authentication"
  if (status === 429 || THROTTLED.test(called)) return "rate"
  if (status === 408) return "transport"
  if (status !== undefined && status >= 500) return "overloaded"
  if (THROTTLED.test(text)) return "rate"
  if (status !== undefined) return "invalid-request"
  return kindWithoutStatus(reading, words)
}

const kindWithoutStatus = (reading: ErrorReading, words: string): ModelFailureKind => {
  const { networkCode } = reading
  if (networkCode !== undefined && OUR_MISTAKES.has(networkCode)) return "invalid-request"
  if (networkCode !== undefined) return "transport"
  if (BUSY.test(words)) return "overloaded"
  if (REFUSED.test(words)) return "authentication"
  if (reading.codes.some((code) => /invalid|not_found/.test(code))) return "invalid-request"
  if (reading.retryable || reading.name === "TimeoutError") return "transport"
  return "unknown"
}

/** Requests that were never sent. Repeating them would fail again. */
const OUR_MISTAKES: ReadonlySet<string> = new Set([
  "ERR_INVALID_URL",
  "UND_ERR_INVALID_ARG",
  "UND_ERR_NOT_SUPPORTED",
])

/** Codes of sockets, lookups, TLS and `fetch`. A provider's own codes look different. */
const NETWORK_CODE =
  /^(ECONN\w+|EPIPE|E?\w*TIMEDOUT|ENOTFOUND|EAI_\w+|E(HOST|NET)(UNREACH|DOWN)|EADDR\w+|EPROTO|ECANCELED|UND_ERR_\w+|HPE_\w+|ERR_(TLS|SSL|INVALID_URL|SOCKET|STREAM)\w*|CERT_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+)$/

const MAX_CAUSES = 8

const findNetworkCode = (error: unknown): string | undefined => {
  let current = error
  for (let depth = 0; depth < MAX_CAUSES && typeof current === "object" && current !== null; depth++) {
    const fields = asRecord(current)
    const code = asText(fields["code"])
    if (NETWORK_CODE.test(code)) return code
    current = fields["cause"]
  }
  return undefined
}

const describe = (facts: {
  readonly said: string
  readonly body: string
  readonly networkCode: string | undefined
  /** The provider's own message was found in the body. */
  readonly parsed: boolean
}): string => {
  const { said, body, networkCode, parsed } = facts
  if ((!parsed || said === "") && body.trim() !== "") return said === "" ? body : `${said}: ${body}`
  const code = networkCode === undefined || said.includes(networkCode) ? "" : ` (${networkCode})`
  return `${said === "" ? "The provider failed without saying why" : said.replace(/:\s*$/, "")}${code}`
}

const isWords = (text: string): boolean => text !== ""

const asText = (value: unknown): string => {
  if (typeof value === "string") return value
  return typeof value === "number" ? String(value) : ""
}

/** Name and message of an Error are not own enumerable fields, so each is read by name. */
const FIELDS = [
  "name",
  "message",
  "code",
  "type",
  "status",
  "statusCode",
  "responseHeaders",
  "responseBody",
  "data",
  "error",
  "response",
  "isRetryable",
  "cause",
] as const

const asRecord = (value: unknown): Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) return {}
  return Object.fromEntries(FIELDS.map((field) => [field, Reflect.get(value, field)]))
}

const asHeaders = (value: unknown): Readonly<Record<string, string>> => {
  if (typeof value !== "object" || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).map(([name, content]) => [name.toLowerCase(), String(content)]),
  )
}

const shorten = (value: unknown): string => {
  try {
    return (JSON.stringify(value) ?? "").slice(0, BODY_LIMIT)
  } catch {
    return ""
  }
}
