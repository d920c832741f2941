/** How long a provider asks us to wait, from headers, from fields of its error, or from its text. */
import { spanMs, untilMoment, untilWords } from "./reset-time.ts"

export interface RetryHints {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

export const retryAfterMs = ({ headers, text, now }: RetryHints): number | undefined => {
  const exact = readNumber(headers["retry-after-ms"])
  if (exact !== undefined) return Math.round(exact)
  const header = headers["retry-after"]?.trim()
  const seconds = readNumber(header)
  if (seconds !== undefined) return Math.round(seconds * 1_000)
  const date = header === undefined ? undefined : untilMoment(header, now)
  if (date !== undefined) return date
  return readResets(headers, now) ?? readFields(text, now) ?? untilWords(text, now)
}

const readNumber = (text: string | undefined): number | undefined => {
  if (text === undefined || !/^\d+(\.\d+)?$/.test(text.trim())) return undefined
  return Number(text)
}

/**
 * Headers that say when a used-up limit resets. Anthropic: a date, or seconds since 1970 for subscription limits. OpenAI: a
 * span. Others: seconds, or seconds since 1970. Of several, only limits with nothing left count.
 */
const readResets = (headers: Readonly<Record<string, string>>, now: number): number | undefined => {
  const resets = Object.entries(headers).flatMap(([name, value]) => {
    const limit = RESET_HEADER.exec(name)
    if (limit === null) return []
    const left = headers[name.replace("reset", "remaining")]
    if (left !== undefined && Number(left) > 0) return []
    const wait = untilMoment(value, now) ?? readSpan(value)
    return wait === undefined ? [] : [wait]
  })
  return resets.length === 0 ? undefined : Math.max(...resets)
}

const RESET_HEADER = /^(?:anthropic-ratelimit-[a-z-]+-reset|x-ratelimit-reset(?:-[a-z-]+)?|ratelimit-reset)$/

const readSpan = (value: string): number | undefined => {
  const seconds = readNumber(value)
  return seconds === undefined ? spanMs(value.trim()) : Math.round(seconds * 1_000)
}

/** Codex: `"resets_at": 1763300000`, `"resets_in_seconds": 8000`; Google: `"retryDelay": "34s"`. */
const readFields = (text: string, now: number): number | undefined => {
  const field = /"(resets_in_seconds|resets_at|resetsAt|retryDelay|retry_after)":\s*"?([^",}\s]{1,40})/.exec(
    text,
  )
  if (field === null) return undefined
  const [, name = "", value = ""] = field
  return name === "resets_at" || name === "resetsAt" ? untilMoment(value, now) : readSpan(value)
}
