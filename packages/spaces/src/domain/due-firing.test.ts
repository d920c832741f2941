import { describe, expect, test } from "vitest"

import { dueFiring, type ScheduleClock } from "./due-firing.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = Date.parse("2026-11-18T00:00:00Z")

/** Every full hour. */
const hourly = {
  next: (afterMs: number) => (Math.floor(afterMs / HOUR) + 1) * HOUR,
  last: (untilMs: number) => Math.floor(untilMs / HOUR) * HOUR,
}

const at = (handledHours: number, nowHours: number, over: Partial<ScheduleClock> = {}) =>
  dueFiring({
    createdMs: START,
    handledMs: START + handledHours * HOUR,
    nowMs: START + nowHours * HOUR,
    ...hourly,
    ...over,
  })

describe("a schedule", () => {
  test("does not fire before its time, and fires at it", () => {
    expect(at(0.5, 0.9)).toEqual({ tag: "none" })
    expect(at(0.5, 1)).toEqual({ tag: "fire", dueMs: START + HOUR, isLate: false })
    expect(at(1, 1.2)).toEqual({ tag: "none" })
  })

  test("after sleeping past many of its times, catches up the newest one and says that it is late", () => {
    expect(at(0.5, 30.5)).toEqual({ tag: "fire", dueMs: START + 30 * HOUR, isLate: true })
  })

  test("fires nothing twice when the clock steps back, and continues when the clock catches up", () => {
    expect(at(9.1, 8.9)).toEqual({ tag: "none" })
    expect(at(9.1, 9)).toEqual({ tag: "none" })
    expect(at(9.1, 10)).toMatchObject({ tag: "fire", dueMs: START + 10 * HOUR })
  })

  test("disbelieves a clock that was more than a day ahead", () => {
    expect(at(25, 1)).toEqual({ tag: "none" })
    expect(at(25.1, 1)).toEqual({ tag: "rewind" })
  })

  test("waits for a clock that has not been set yet", () => {
    expect(at(0, 1, { nowMs: Date.parse("1970-01-01T05:00:00Z") })).toEqual({ tag: "none" })
  })

  test("ends with its pattern", () => {
    expect(at(0, 100, { next: () => undefined, last: () => START })).toEqual({ tag: "none" })
  })

  test("with one time only fires once, however late", () => {
    const time = START + 5 * HOUR
    const once = {
      next: (afterMs: number) => (afterMs < time ? time : undefined),
      last: (untilMs: number) => (untilMs >= time ? time : undefined),
    }
    expect(at(0, 500, once)).toEqual({ tag: "fire", dueMs: time, isLate: true })
    expect(at(500, 501, once)).toEqual({ tag: "none" })
  })
})

test("whatever the clock does within a day, each due time fires at most once, and a timely look misses none", () => {
  let state = 7
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state % below
  }
  let now = START
  let handled = START
  const fired: number[] = []
  let missed = 0
  for (let look = 0; look < 20_000; look += 1) {
    const jump = random(50)
    // Usually minutes go by, sometimes hours of sleep, sometimes a step back.
    now += jump === 0 ? random(20) * HOUR : jump === 1 ? -random(5 * HOUR) : random(600_000)
    const due = dueFiring({ createdMs: START, handledMs: handled, nowMs: now, ...hourly })
    expect(due.tag).not.toBe("rewind")
    if (due.tag === "none" && hourly.next(handled) <= now) missed += 1
    if (due.tag === "fire") fired.push(due.dueMs)
    if (due.tag !== "none") handled = now
  }
  expect(missed).toBe(0)
  expect(fired.length).toBeGreaterThan(500)
  expect(new Set(fired).size).toBe(fired.length)
  expect(fired).toEqual(fired.toSorted((left, right) => left - right))
  expect(now - START).toBeGreaterThan(30 * DAY)
})
