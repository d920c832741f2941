/**
 * When a provider says that a limit ends: a span ("2h 13m", "1.5s"), a numeric time (seconds since 1970), a date, or a time
 * of day ("3:47 PM", "3pm (America/Los_Angeles)"). Undefined for anything unreadable; a past time counts as one second
 * ahead.
 */
const SECOND = 1_000
const UNITS: readonly (readonly [name: RegExp, milliseconds: number])[] = [
  [/^(?:ms|msecs?|milliseconds?)$/, 1],
  [/^(?:s|secs?|seconds?)$/, SECOND],
  [/^(?:m|mins?|minutes?)$/, 60 * SECOND],
  [/^(?:h|hrs?|hours?)$/, 3_600 * SECOND],
  [/^(?:d|days?)$/, 86_400 * SECOND],
  [/^(?:w|weeks?)$/, 7 * 86_400 * SECOND],
]

/** `1.5s`, `2h13m`, `5 days 3 hours and 2 minutes`: one or more parts and nothing else before the end of the span. */
export const spanMs = (text: string): number | undefined => {
  let sum: number | undefined
  for (const [, amount = "", unit = ""] of text.matchAll(PART)) {
    const factor = UNITS.find(([name]) => name.test(unit.toLowerCase()))?.[1]
    if (factor === undefined) break
    sum = (sum ?? 0) + Number(amount) * factor
  }
  return sum === undefined ? undefined : Math.round(sum)
}

/** Adjacent parts, from the start on. */
const PART = /[\s,]*(?:and\s+)?(\d{1,9}(?:\.\d{1,6})?)\s?([a-z]+)/giy

/** Time until a moment: seconds or milliseconds since 1970, or a date in the format of RFC 3339 or HTTP. */
export const untilMoment = (text: string, now: number): number | undefined => {
  const value = text.trim()
  if (/^\d{9,11}(?:\.\d+)?$/.test(value)) return ahead(Number(value) * SECOND, now)
  if (/^\d{12,14}$/.test(value)) return ahead(Number(value), now)
  if (!/^(?:\d{4}-\d{2}-\d{2}[T ]|[a-z]{3,9},? )/i.test(value)) return undefined
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : ahead(date, now)
}

const ahead = (moment: number, now: number): number => Math.max(SECOND, Math.round(moment - now))

/** `try again in 1.2s`, `resets in 2h 13m`, `try again at 3:47 PM`, `resets 3pm (Europe/Berlin)`. */
export const untilWords = (text: string, now: number): number | undefined => {
  const span =
    /(?:try again|retry|reset(?:s|ting)?|available(?: again)?|wait)\s+(?:in|after|for)\s+(?:about\s+)?(?=\d)/i.exec(
      text,
    )
  if (span !== null) {
    const found = spanMs(text.slice(span.index + span[0].length, span.index + span[0].length + 80))
    if (found !== undefined) return found
  }
  const clock =
    /(?:try again|retry|reset(?:s)?|available(?: again)?)\s+(?:at\s+)?(\d{1,2})(?::(\d{2}))?\s?([ap]\.?m\.?)?(?:\s*\(?((?:UTC|GMT|[A-Z][A-Za-z_]+\/[A-Za-z_/]+))\)?)?/i.exec(
      text,
    )
  if (clock === null) return undefined
  const [, hours = "", minutes = "0", half, zone] = clock
  // A bare number is not a time of day.
  if (half === undefined && clock[2] === undefined) return undefined
  return untilTimeOfDay({ hours: Number(hours), minutes: Number(minutes), half, zone, now })
}

const untilTimeOfDay = (options: {
  readonly hours: number
  readonly minutes: number
  readonly half: string | undefined
  readonly zone: string | undefined
  readonly now: number
}): number | undefined => {
  const { minutes, half, zone, now } = options
  if (options.hours > 23 || minutes > 59 || (half !== undefined && (options.hours < 1 || options.hours > 12)))
    return undefined
  const isAfternoon = half?.toLowerCase().startsWith("p") === true
  const hours = half === undefined ? options.hours : (options.hours % 12) + (isAfternoon ? 12 : 0)
  const today = minutesOfDay(now, zone)
  if (today === undefined) return undefined
  const minutesAhead = (hours * 60 + minutes - today.minutes + 1_440) % 1_440
  // A clock time has no seconds: the current minute, or the one just over, means today.
  const isNow = minutesAhead === 0 || minutesAhead === 1_439
  return Math.max(SECOND, (isNow ? 1 : minutesAhead) * 60 * SECOND - today.restMs)
}

/** The time of day in the zone, and how far into the minute it is. */
const minutesOfDay = (
  now: number,
  zone: string | undefined,
): { readonly minutes: number; readonly restMs: number } | undefined => {
  try {
    const parts = new Intl.DateTimeFormat("en-GB", {
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
      ...(zone === undefined ? {} : { timeZone: zone.toUpperCase() === "GMT" ? "UTC" : zone }),
    }).formatToParts(new Date(now))
    const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value)
    return { minutes: part("hour") * 60 + part("minute"), restMs: now % (60 * SECOND) }
  } catch {
    // An unknown zone.
    return undefined
  }
}
