/** Schedules of a project on disk: read whole, changed under their lock. */
import { statSync } from "node:fs"

import { Failure } from "@meridian/protocol"

import {
  decodeSchedules,
  encodeSchedules,
  needsKeeper,
  NO_SCHEDULES,
  SCHEDULE_LIMIT,
  type Schedules,
} from "../domain/schedule.ts"
import { readDocument, replaceFile } from "./document.ts"
import { withLock } from "./lock.ts"
import { scheduleFile, schedulesLock, type StatePlace } from "./place.ts"

type Place = Pick<StatePlace, "spaces">

/** Throws SCHEDULES_DAMAGED. */
export const readSchedules = (place: Place): Schedules => {
  const file = scheduleFile(place)
  const content = readDocument(file, SCHEDULE_LIMIT.documentBytes)
  if (content === undefined) return NO_SCHEDULES
  const read = decodeSchedules(content)
  if (typeof read === "string") throw new Failure("SCHEDULES_DAMAGED", { file, reason: read })
  return read
}

/** Reads, changes and replaces in one critical section. Writes nothing if nothing changed. */
export const changeSchedules = (
  place: Place,
  change: (before: Schedules) => Schedules | Promise<Schedules>,
): Promise<Schedules> =>
  withLock(schedulesLock(place), async () => {
    const before = readSchedules(place)
    const after = await change(before)
    if (after !== before) replaceFile(scheduleFile(place), encodeSchedules(after))
    return after
  })

/** Whether a project has anything scheduled. Never throws. */
export const hasSchedules = (place: Place): boolean => {
  try {
    return readSchedules(place).schedules.some(needsKeeper)
  } catch {
    return false
  }
}

/** For a caller that polls: reads only a changed file. A damaged one counts as having no schedules. */
export const watchSchedules = (place: Place): (() => Schedules) => {
  let seen = ""
  let known = NO_SCHEDULES
  return () => {
    const found = statSync(scheduleFile(place), { throwIfNoEntry: false })
    const mark = found === undefined ? "none" : `${found.ino} ${found.size} ${found.mtimeMs}`
    if (mark === seen) return known
    seen = mark
    try {
      known = readSchedules(place)
    } catch {
      known = NO_SCHEDULES
    }
    return known
  }
}
