import { BOOLEAN, listOf, objectOf, oneOf, STRING } from "@meridian/protocol"

import { FIRING_OUTCOMES } from "../domain/schedule.ts"
import { defineMeta } from "./operation.ts"

const SCHEDULE_ARGUMENT = {
  type: "string",
  description: "Id of the schedule.",
  positional: true,
  required: true,
  value: "SCHEDULE",
} as const

/** `ended`: its pattern has no more times. `foreign`: you did not make it in this place, and it fires nothing. */
const SCHEDULE_DOCUMENT = objectOf(
  {
    schedule_id: STRING,
    status: oneOf("active", "paused", "ended", "foreign"),
    pattern: STRING,
    zone: STRING,
    command: listOf(STRING),
    space_id: STRING,
    cwd: STRING,
    overlap: BOOLEAN,
  },
  {
    next: STRING,
    last: objectOf(
      { due: STRING, at: STRING, outcome: oneOf(...FIRING_OUTCOMES) },
      { run_id: STRING, message: STRING },
    ),
  },
)

export const SCHEDULE = defineMeta({
  name: "schedule",
  audience: "human",
  summary: "Start runs by the clock.",
  fields: {
    pattern: {
      type: "string",
      description: 'When: a cron pattern in quotes, such as "0 9 * * 1-5", or one time (2026-12-24T09:00).',
      positional: true,
      required: true,
      value: "PATTERN",
    },
    zone: {
      type: "string",
      description: "Time zone of the pattern, such as Europe/Berlin; default is this machine's.",
      value: "ZONE",
    },
    overlap: {
      type: "boolean",
      description: "Fire even if the run of an earlier firing has not ended.",
    },
    command: {
      type: "strings",
      description: "What to do: run spawn or run continue, with its flags.",
      positional: "dashes",
      value: "COMMAND",
    },
  },
  output: SCHEDULE_DOCUMENT,
  details:
    "The command is checked at once, as a dry run. Each firing begins a background run, in the space that --space names or in one made for the schedule. The supervisor of the project fires, so this machine must be on: any meridian command starts it, and 'meridian up' after a reboot. Missed times are caught up once.",
  examples: [
    'schedule "0 9 * * 1-5" -- run spawn -m opus -p "review what was committed since yesterday"',
    'schedule "*/30 * * * *" --zone UTC -- run spawn --space s1 -p "look at the failing builds"',
    'schedule 2026-12-24T09:00 -- run continue r3 --space s1 -p "write the release notes"',
  ],
})

export const SCHEDULE_LIST = defineMeta({
  name: "schedule.list",
  audience: "human",
  summary: "List the schedules of this project: when each fires next, and its last outcome.",
  fields: {},
  output: objectOf({ schedules: listOf(SCHEDULE_DOCUMENT) }),
})

export const SCHEDULE_PAUSE = defineMeta({
  name: "schedule.pause",
  audience: "human",
  summary: "Pause a schedule; runs it has begun continue.",
  fields: { scheduleId: SCHEDULE_ARGUMENT },
  output: SCHEDULE_DOCUMENT,
})

export const SCHEDULE_RESUME = defineMeta({
  name: "schedule.resume",
  audience: "human",
  summary: "Let a schedule fire again, from its next time on.",
  fields: { scheduleId: SCHEDULE_ARGUMENT },
  output: SCHEDULE_DOCUMENT,
})

export const SCHEDULE_REMOVE = defineMeta({
  name: "schedule.remove",
  audience: "human",
  summary: "Remove a schedule; runs it has begun continue.",
  fields: { scheduleId: SCHEDULE_ARGUMENT },
  output: objectOf({ schedule_id: STRING, removed: BOOLEAN }),
})
