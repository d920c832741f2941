import { describe, expect, test } from "vitest"

import { cronTimes, timeIn } from "./cron-times.ts"

const iso = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString()

const times = (pattern: string, zone: string, from: string, count = 3): readonly (string | undefined)[] => {
  const { next } = cronTimes({ pattern, zone })
  let after = Date.parse(from)
  return Array.from({ length: count }, () => {
    const found = next(after)
    after = found ?? after
    return iso(found)
  })
}

describe("the times of a pattern", () => {
  test("follow the clocks of its zone, even over a weekend", () => {
    expect(times("0 9 * * 1-5", "Europe/Berlin", "2026-11-19T12:00:00Z")).toEqual([
      "2026-11-20T08:00:00.000Z",
      "2026-11-23T08:00:00.000Z",
      "2026-11-24T08:00:00.000Z",
    ])
  })

  test("that a clock change skips come right after the gap, once", () => {
    expect(times("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2)).toEqual([
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ])
  })

  test("that come twice on one day fire at the first; an hourly pattern continues through both", () => {
    expect(times("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2)).toEqual([
      "2026-10-25T00:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ])
    expect(times("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 3)).toEqual([
      "2026-10-25T00:00:00.000Z",
      "2026-10-25T01:00:00.000Z",
      "2026-10-25T02:00:00.000Z",
    ])
  })

  test("up to a moment include the moment", () => {
    const { last } = cronTimes({ pattern: "0 9 * * *", zone: "UTC" })
    expect(iso(last(Date.parse("2026-11-18T09:00:00Z")))).toBe("2026-11-18T09:00:00.000Z")
    expect(iso(last(Date.parse("2026-11-18T08:59:59Z")))).toBe("2026-11-17T09:00:00.000Z")
  })

  test("can be a single one", () => {
    const once = cronTimes({ pattern: "2026-12-24T09:00", zone: "America/New_York" })
    expect(iso(once.next(Date.parse("2026-11-18T00:00:00Z")))).toBe("2026-12-24T14:00:00.000Z")
    expect(once.next(Date.parse("2026-12-24T14:00:00Z"))).toBeUndefined()
    expect(iso(once.last(Date.parse("2027-01-01T00:00:00Z")))).toBe("2026-12-24T14:00:00.000Z")
    expect(once.last(Date.parse("2026-12-01T00:00:00Z"))).toBeUndefined()
  })

  test("are shown in the clocks of the zone", () => {
    expect(timeIn(Date.parse("2026-11-20T08:00:00Z"), "Europe/Berlin")).toBe("2026-11-20 09:00")
    expect(timeIn(Date.parse("2026-11-20T08:00:05Z"), "UTC")).toBe("2026-11-20 08:00:05")
  })
})

test.each([
  ["", "SCHEDULE_PATTERN"],
  ["* * * *", "SCHEDULE_PATTERN"],
  ["99 * * * *", "SCHEDULE_PATTERN"],
  ["*/0 * * * *", "SCHEDULE_PATTERN"],
  ["@reboot", "SCHEDULE_PATTERN"],
  ["tomorrow", "SCHEDULE_PATTERN"],
  ["2026-13-40T09:00", "SCHEDULE_PATTERN"],
  ["1,".repeat(10_000), "SCHEDULE_PATTERN"],
])("%j is no pattern of times", (pattern, code) => {
  expect(() => cronTimes({ pattern, zone: "UTC" })).toThrow(expect.objectContaining({ code }))
})

test("an unknown zone is refused", () => {
  expect(() => cronTimes({ pattern: "0 9 * * *", zone: "Mars/Base" })).toThrow(
    expect.objectContaining({ code: "SCHEDULE_ZONE" }),
  )
})
