import { spaceId } from "@meridian/protocol"
import { expect, test } from "vitest"

import {
  addSchedule,
  changeSchedule,
  decodeSchedules,
  encodeSchedules,
  firingName,
  NO_SCHEDULES,
  readFiringName,
  type Schedule,
} from "./schedule.ts"

const made = (id: string): Schedule => ({
  id,
  pattern: "0 9 * * *",
  zone: "UTC",
  command: "run.spawn",
  words: ["-p", "look"],
  space: spaceId("s1"),
  cwd: "/work",
  createdAt: "2026-11-18T08:00:00.000Z",
  status: "active",
  handledUntil: "2026-11-18T08:00:00.000Z",
})

test("written schedules are read back", () => {
  const { after } = addSchedule(NO_SCHEDULES, (id) => ({ ...made(id), overlap: true, seal: "s" }))
  expect(decodeSchedules(encodeSchedules(after))).toEqual(after)
})

test("a number is never given twice", () => {
  const first = addSchedule(NO_SCHEDULES, made)
  const gone = { ...first.after, schedules: [] }
  expect(addSchedule(gone, made).added.id).toBe("sch2")
})

test("a change is made to one schedule", () => {
  const two = addSchedule(addSchedule(NO_SCHEDULES, made).after, made).after
  const { schedules } = changeSchedule(two, "sch2", (one) => ({ ...one, status: "paused" }))
  expect(schedules.map(({ status }) => status)).toEqual(["active", "paused"])
  expect(changeSchedule(two, "sch2", (one) => one)).toBe(two)
})

test.each([
  ["", "It must be an object"],
  ["[]", "It must be an object"],
  ['{"v":2,"last_number":0,"schedules":[]}', "version"],
  ['{"v":1,"last_number":0,"schedules":[{"id":"sch1"}]}', "schedules"],
  ['{"v":1,"last_number":0,"schedules":[{"id":"../x"}]}', "schedules"],
])("%s is no such document", (content, reason) => {
  expect(decodeSchedules(content)).toContain(reason)
})

test("a firing's name says which schedule and when", () => {
  const due = "2026-11-18T08:00:00.000Z"
  expect(readFiringName(firingName("sch2", due))).toEqual({ id: "sch2", due })
  for (const name of ["", "sch2", "sch2@today", `s2@${due}`, `sch2@${due} `])
    expect(readFiringName(name)).toBeUndefined()
})
