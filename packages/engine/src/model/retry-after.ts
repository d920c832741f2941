/** How long a provider asks us to wait: by header, in seconds or as a date, or in its own words. */

export interface RetryHints {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

export const retryAfterMs = ({ headers, text, now }: RetryHints): number | undefined => {
  const exact = readNumber(headers["retry-after-ms"])
  if (exact !== undefined) return Math.round(exact)
  const header = headers["retry-after"]?.trim()
  const seconds = readNumber(header)
  if (seconds !== undefined) return Math.round(seconds * 1_000)
  // Only what looks like an HTTP date: Date.parse reads a date into almost anything.
  const date = header !== undefined && /^[a-z]{3,9},? /i.test(header) ? Date.parse(header) : Number.NaN
  if (!Number.isNaN(date)) return Math.max(0, date - now)
  return readWords(text)
}

const readNumber = (text: string | undefined): number | undefined => {
  if (text === undefined || !/^\d+(\.\d+)?$/.test(text.trim())) return undefined
  return Number(text)
}

/** OpenAI: "Please try again in 1.2s"; Google: "Please retry in 34.1s" and `"retryDelay": "34s"`. */
const readWords = (text: string): number | undefined => {
  const found =
    /(?:try again in|retry in|"retryDelay":\s*")\s*(?:(\d+)m(?=\d))?(\d+(?:\.\d+)?)\s?(ms|s|m|h)/i.exec(text)
  if (found === null) return undefined
  const [, minutes = "0", amount = "0", unit = "s"] = found
  return Math.round(Number(minutes) * 60_000 + Number(amount) * (UNIT_MS[unit.toLowerCase()] ?? 1_000))
}
