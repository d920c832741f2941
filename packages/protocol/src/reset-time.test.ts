import * as fc from "fast-check"
import { expect, test } from "vitest"

import { readResetTime } from "./reset-time.ts"

/** A Monday in winter, 12:00 UTC. */
const NOW = Date.parse("2026-11-16T12:00:00.000Z")
const at = (text: string, zone?: string): string | undefined => {
  const found = readResetTime(text, { nowMs: NOW, ...(zone === undefined ? {} : { zone }) })
  return found === undefined ? undefined : new Date(found).toISOString()
}

test.each([
  ["Claude AI usage limit reached|1763300820", "2025-11-16T13:47:00.000Z"],
  ["5-hour limit reached ∙ resets 3pm (Europe/Berlin)", "2026-11-16T14:00:00.000Z"],
  ["You've hit your limit · resets 3am (America/New_York)", "2026-11-17T08:00:00.000Z"],
  ["Your limit resets Nov 20, 5:30pm (UTC)", "2026-11-20T17:30:00.000Z"],
  ["You've hit your usage limit. Try again at 3:47 PM.", "2026-11-16T15:47:00.000Z"],
  ["try again at 11:00 AM", "2026-11-17T11:00:00.000Z"],
  ["Try again at 12:15 am", "2026-11-17T00:15:00.000Z"],
  ["usage limit: try again at 15:47 UTC", "2026-11-16T15:47:00.000Z"],
  ["Upgrade or try again in 3 days 4 hours 5 minutes.", "2026-11-19T16:05:00.000Z"],
  ["Rate limit reached. Please try again in 1.5s.", "2026-11-16T12:00:01.500Z"],
  ["please try again in 250ms", "2026-11-16T12:00:00.250Z"],
  ["resets in 2h 13m", "2026-11-16T14:13:00.000Z"],
  ["The limit resets in 1 hour, 2 minutes and 3 seconds", "2026-11-16T13:02:03.000Z"],
  ['{"resets_at":1794835800,"type":"usage_limit_reached"}', "2026-11-16T13:30:00.000Z"],
  ["retry after 2026-11-16T18:00:00Z", "2026-11-16T18:00:00.000Z"],
  ["retry after 2026-11-16 18:00:00+02:00", "2026-11-16T16:00:00.000Z"],
])("%s", (text, time) => {
  expect(at(text)).toBe(time)
})

test("a time of day without a zone is read in the reader's zone", () => {
  expect(at("try again at 3:47 PM", "America/Los_Angeles")).toBe("2026-11-16T23:47:00.000Z")
})

test("the clocks may change between now and then", () => {
  const before = Date.parse("2026-10-24T20:00:00.000Z")
  const found = readResetTime("resets 10:00 (Europe/Berlin)", { nowMs: before })
  // On the 25th Berlin is one hour ahead again, not two.
  expect(new Date(found ?? 0).toISOString()).toBe("2026-10-25T09:00:00.000Z")
})

test.each([
  "Rate limit exceeded.",
  "try again at some point",
  "try again at 99:99",
  "try again at 13:00 PM",
  "resets soon",
  "429 Too Many Requests",
  "at 3 we stop",
  "",
])("%j says no time", (text) => {
  expect(at(text)).toBeUndefined()
})

test("a time in the past and one in 400 years are returned as stated", () => {
  expect(at("resets at 2020-01-01T00:00:00Z")).toBe("2020-01-01T00:00:00.000Z")
  expect(at("resets in 146097 days")).toBe("2426-11-16T12:00:00.000Z")
})

test("no text throws or takes long", () => {
  const piece = fc.constantFrom(
    "at ",
    "in ",
    "resets ",
    "9",
    ":",
    " ",
    "pm",
    "(Europe/Berlin)",
    "d",
    "Nov 1",
    "|",
    "T",
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 5 })), { maxLength: 40 }), (pieces) => {
      const found = readResetTime(pieces.join(""), { nowMs: NOW })
      expect(found === undefined || Number.isFinite(found)).toBe(true)
    }),
  )
  expect(readResetTime(`in ${"9 ".repeat(1_000_000)}`, { nowMs: NOW })).toBeUndefined()
})

test("a time of day that is this minute, or the one before, is not tomorrow's", () => {
  const readAt = (now: string): string => {
    const found = readResetTime("try again at 3:47 PM", { nowMs: Date.parse(now), zone: "UTC" })
    return new Date(found ?? 0).toISOString()
  }
  expect(readAt("2026-11-16T15:47:10Z")).toBe("2026-11-16T15:48:00.000Z")
  expect(readAt("2026-11-16T15:48:10Z")).toBe("2026-11-16T15:49:00.000Z")
  expect(readAt("2026-11-16T15:49:10Z")).toBe("2026-11-17T15:47:00.000Z")
})
