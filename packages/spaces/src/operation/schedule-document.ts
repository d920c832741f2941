/** A schedule as its readers get it. */
import type { TypeOf } from "@meridian/protocol"

import type { Schedule } from "../domain/schedule.ts"
import { cronTimes, timeIn } from "./cron-times.ts"
import { sparse } from "./run-document.ts"
import type { SCHEDULE } from "./schedule.meta.ts"
import { isOwnSchedule } from "./seal.ts"
import { shellLine } from "./shell-words.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

export type ScheduleDocument = TypeOf<(typeof SCHEDULE)["output"]>

export const scheduleDocument = (
  schedule: Schedule,
  state: Pick<State, "place">,
  world: Pick<World, "env" | "clock">,
): ScheduleDocument => {
  const { lastFiring } = schedule
  const next = nextMs(schedule, world)
  return sparse({
    schedule_id: schedule.id,
    status: statusOf(schedule, next, isOwnSchedule(schedule, state, world)),
    pattern: schedule.pattern,
    zone: schedule.zone,
    command: [...schedule.command.split("."), ...schedule.words],
    space_id: schedule.space,
    cwd: schedule.cwd,
    overlap: schedule.overlap === true,
    next: next === undefined || schedule.status === "paused" ? undefined : new Date(next).toISOString(),
    last:
      lastFiring === undefined
        ? undefined
        : sparse({
            due: lastFiring.due,
            at: lastFiring.at,
            outcome: lastFiring.outcome,
            run_id: lastFiring.runId,
            message: lastFiring.message,
          }),
  })
}

/** The pattern of a foreign schedule may be invalid. */
const nextMs = (schedule: Schedule, { clock }: Pick<World, "clock">): number | undefined => {
  try {
    return cronTimes(schedule).next(clock.now())
  } catch {
    return undefined
  }
}

const statusOf = (schedule: Schedule, next: number | undefined, own: boolean): ScheduleDocument["status"] => {
  if (!own) return "foreign"
  if (schedule.status === "paused") return "paused"
  return next === undefined ? "ended" : "active"
}

/** `sch1  active  2026-11-19 09:00  0 9 * * 1-5 (Europe/Berlin)  r4 begun  run spawn -p '…'` */
export const scheduleRow = (schedule: ScheduleDocument): readonly string[] => [
  schedule.schedule_id,
  schedule.status,
  schedule.next === undefined ? "-" : timeIn(Date.parse(schedule.next), schedule.zone),
  `${schedule.pattern} (${schedule.zone})`,
  lastWords(schedule),
  shellLine(schedule.command),
]

const lastWords = ({ last, zone }: ScheduleDocument): string => {
  if (last === undefined) return "not fired yet"
  const when = timeIn(Date.parse(last.due), zone)
  return `${when} ${last.outcome}${last.run_id === undefined ? "" : ` ${last.run_id}`}${last.message === undefined ? "" : ` (${last.message})`}`
}
