/**
 * When a limit ends, from the words of a provider or a harness: `resets in 2h 13m`, `try again at 3:47 PM`, `resets 3am
 * (Europe/Berlin)`, `limit reached|1763300820`, an ISO time. Milliseconds since 1970; undefined when the words contain no
 * time. The caller decides what to do with a time in the past or in 400 years. Pure: the caller supplies the current time
 * and its zone, in which a time of day without a zone is read.
 */
export interface ResetContext {
  readonly nowMs: number
  /** The IANA name of the reader's zone. Default: UTC. */
  readonly zone?: string
}

export const readResetTime = (text: string, context: ResetContext): number | undefined => {
  const words = text.length > LONGEST ? text.slice(0, LONGEST) : text
  return isoTime(words) ?? epochTime(words) ?? spanFromNow(words, context) ?? timeOfDay(words, context)
}

/** Of longer messages only the beginning is read. */
const LONGEST = 4_096
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const isoTime = (text: string): number | undefined => {
  const found = /\b(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2}))/.exec(
    text,
  )
  return found === null ? undefined : valid(Date.parse(found[1]?.replace(" ", "T") ?? ""))
}

/** Seconds or milliseconds since 1970, after a bar (Claude Code) or the word reset. */
const epochTime = (text: string): number | undefined => {
  const found = /(?:\||\breset(?:s|_at|s_at|sAt)?\b["':=\s]{0,6})(\d{10}|\d{13})\b/i.exec(text)
  if (found === null) return undefined
  const value = Number(found[1])
  return value < 1e11 ? value * SECOND : value
}

const UNIT = "d(?:ays?)?|h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?|ms|milliseconds?"
const PART = String.raw`\d{1,9}(?:\.\d{1,6})?\s{0,2}(?:${UNIT})\b`
const SPAN = new RegExp(
  String.raw`\b(?:in|after|wait)\s{1,4}((?:${PART}[\s,]{0,3}(?:and\s{1,2})?){1,5})`,
  "i",
)

const spanFromNow = (text: string, { nowMs }: ResetContext): number | undefined => {
  const found = SPAN.exec(text)
  if (found === null) return undefined
  let span = 0
  for (const [, amount = "", unit = ""] of (found[1] ?? "").matchAll(
    new RegExp(String.raw`(\d{1,9}(?:\.\d{1,6})?)\s{0,2}(${UNIT})\b`, "gi"),
  ))
    span += Number(amount) * unitMs(unit.toLowerCase())
  return nowMs + span
}

const unitMs = (unit: string): number => {
  if (unit.startsWith("d")) return DAY
  if (unit.startsWith("h")) return HOUR
  if (unit === "ms" || unit.startsWith("milli")) return 1
  return unit.startsWith("m") ? MINUTE : SECOND
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const DATE = String.raw`(?:(${MONTHS.join("|")})[a-z]{0,6}\.?\s{1,2}(\d{1,2})(?:st|nd|rd|th)?(?:,?\s{1,2}(\d{4}))?,?\s{1,2}(?:at\s{1,2})?)?`
const CLOCK = String.raw`(\d{1,2})(?::(\d{2}))?(?::\d{2})?\s{0,2}(am|pm|a\.m\.|p\.m\.)?`
const ZONE = String.raw`(?:\s{0,2}\(?((?:[A-Z][A-Za-z_]{1,30}\/[A-Z][A-Za-z_/+-]{1,40})|UTC|GMT|Z)\)?)?`
const TIME_OF_DAY = new RegExp(String.raw`\b(?:at|resets|until|after)\s{1,4}${DATE}${CLOCK}${ZONE}`, "i")

/** The next time a clock shows this; with a date, exactly that moment. */
const timeOfDay = (text: string, context: ResetContext): number | undefined => {
  const found = TIME_OF_DAY.exec(text)
  if (found === null) return undefined
  const [, month, day, year, hours = "", minutes, half, named] = found
  // "at 3" is too vague: a time of day has minutes, or am or pm.
  if (minutes === undefined && half === undefined) return undefined
  const hour = hourOf(Number(hours), half?.toLowerCase())
  const minute = Number(minutes ?? "0")
  if (hour === undefined || minute > 59) return undefined
  const zone = zoneOf(named) ?? context.zone ?? "UTC"
  const today = dayIn(zone, context.nowMs)
  if (month !== undefined) {
    const at = {
      year: Number(year ?? today.year),
      month: MONTHS.indexOf(month.toLowerCase()),
      day: Number(day),
    }
    return momentIn(zone, { ...at, hour, minute })
  }
  const moment = momentIn(zone, { ...today, hour, minute })
  if (moment === undefined || moment > context.nowMs) return moment
  // A clock time has no seconds: the current minute, or the one just over, means today.
  const passed = Math.floor((context.nowMs - moment) / MINUTE)
  if (passed <= 1) return moment + (passed + 1) * MINUTE
  return momentIn(zone, { ...dayIn(zone, moment + DAY), hour, minute })
}

const hourOf = (hours: number, half: string | undefined): number | undefined => {
  if (half === undefined) return hours <= 23 ? hours : undefined
  if (hours < 1 || hours > 12) return undefined
  return (hours % 12) + (half.startsWith("p") ? 12 : 0)
}

const zoneOf = (named: string | undefined): string | undefined => {
  if (named === undefined) return undefined
  if (/^(?:utc|gmt|z)$/i.test(named)) return "UTC"
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: named }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

interface Day {
  readonly year: number
  /** Counted from 0. */
  readonly month: number
  readonly day: number
}

const dayIn = (zone: string, ms: number): Day => {
  const shifted = new Date(ms + offsetAt(zone, ms))
  return { year: shifted.getUTCFullYear(), month: shifted.getUTCMonth(), day: shifted.getUTCDate() }
}

const momentIn = (
  zone: string,
  at: Day & { readonly hour: number; readonly minute: number },
): number | undefined => {
  const wall = Date.UTC(at.year, at.month, at.day, at.hour, at.minute)
  // Computed twice, because the first guess may have the offset from before or after a clock change.
  const guess = wall - offsetAt(zone, wall)
  return valid(wall - offsetAt(zone, guess))
}

/** How far the zone's clocks are ahead of UTC. */
const offsetAt = (zone: string, ms: number): number => {
  if (zone === "UTC" || Number.isNaN(ms)) return 0
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(ms)
  const value = (type: string): number => Number(parts.find((part) => part.type === type)?.value)
  const wall = Date.UTC(
    value("year"),
    value("month") - 1,
    value("day"),
    value("hour"),
    value("minute"),
    value("second"),
  )
  return wall - Math.floor(ms / SECOND) * SECOND
}

const valid = (ms: number): number | undefined => (Number.isNaN(ms) ? undefined : ms)
