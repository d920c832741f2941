/**
 * `schedules.json`: what a project does by the clock. It is one document that is replaced whole under
 * `schedules.lock`.
 *
 *   {"v":1,"last_number":2,"schedules":[{"id":"sch2","pattern":"0 9 * * 1-5","zone":"Europe/Berlin","command":"run.spawn",
 *     "words":["-p","review"],"space":"s1","cwd":"/home/me/app","created_at":"…Z","status":"active",
 *     "handled_until":"…Z","last_firing":{"due":"…Z","at":"…Z","outcome":"begun","run_id":"r4"},"seal":"…"}]}
 *
 * Everything due up to `handled_until` has been handled. A firing is written as `open` before anything starts, and
 * gets its outcome afterwards. The run it begins carries the schedule's id and the due time, so a retry after a crash
 * finds it. The work is sealed (`operation/seal.ts`): a schedule that this user's Meridian did not write fires
 * nothing.
 */
import {
  BOOLEAN,
  COUNT,
  listOf,
  objectOf,
  oneOf,
  problemText,
  RUN_ID,
  SPACE_ID,
  STRING,
  text,
  versionedDecoder,
  encoder,
  type TypeOf,
} from "@meridian/protocol"

import { nextNumber } from "./identifier.ts"
import { decodeJson } from "./json-line.ts"

export const SCHEDULE_LIMIT = {
  /** Per project. */
  schedules: 100,
  patternCharacters: 200,
  /** The words of one command. A longer prompt belongs in a file. */
  commandBytes: 32_768,
  documentBytes: 8_388_608,
} as const

export const FIRING_OUTCOMES = ["open", "begun", "skipped", "refused"] as const

const FIRING = objectOf(
  { due: STRING, at: STRING, outcome: oneOf(...FIRING_OUTCOMES) },
  { runId: RUN_ID, message: STRING },
)
export type Firing = TypeOf<typeof FIRING>

const SCHEDULE = objectOf(
  {
    id: text({ pattern: /^sch[1-9]\d{0,8}$/, like: "an id such as sch1" }),
    pattern: STRING,
    zone: STRING,
    command: oneOf("run.spawn", "run.continue"),
    words: listOf(STRING),
    space: SPACE_ID,
    cwd: STRING,
    createdAt: STRING,
    status: oneOf("active", "paused"),
    handledUntil: STRING,
  },
  {
    configPath: STRING,
    /** Fires even if the run of an earlier firing has not ended. */
    overlap: BOOLEAN,
    lastFiring: FIRING,
    /** The newest run that a firing began. */
    lastRun: RUN_ID,
    seal: STRING,
  },
)
export type Schedule = TypeOf<typeof SCHEDULE>

/** The work of a schedule and its times: the part that its seal vouches for. */
export type ScheduledWork = Pick<
  Schedule,
  "id" | "pattern" | "zone" | "command" | "words" | "space" | "cwd" | "configPath" | "overlap"
>

const SCHEDULES = objectOf({ lastNumber: COUNT, schedules: listOf(SCHEDULE) })
export type Schedules = TypeOf<typeof SCHEDULES>

export const NO_SCHEDULES: Schedules = { lastNumber: 0, schedules: [] }

const VERSION = 1

const encode = encoder(SCHEDULES, "snake")
const decode = versionedDecoder(
  { field: "v", current: VERSION, shape: SCHEDULES },
  { names: "snake", unknown: "strip" },
)

export const encodeSchedules = (schedules: Schedules): string =>
  `${JSON.stringify({ v: VERSION, ...encode(schedules) }, undefined, 1)}\n`

/** Returns the reason as text if it is not such a document. */
export const decodeSchedules = (content: string): Schedules | string => {
  const decoded = decode(decodeJson(content))
  return decoded.tag === "value" ? decoded.value : problemText(decoded.problem, "It").replace(/\.$/, "")
}

/** Adds one schedule with the next number. Numbers of removed schedules are not reused. */
export const addSchedule = (
  { lastNumber, schedules }: Schedules,
  make: (id: string) => Schedule,
): { readonly after: Schedules; readonly added: Schedule } => {
  const number = Math.max(
    lastNumber + 1,
    nextNumber(
      "sch",
      schedules.map(({ id }) => id),
    ),
  )
  const added = make(`sch${number}`)
  return { added, after: { lastNumber: number, schedules: [...schedules, added] } }
}

/** Returns the same object if nothing changes. */
export const changeSchedule = (
  before: Schedules,
  id: string,
  change: (schedule: Schedule) => Schedule,
): Schedules => {
  const schedules = before.schedules.map((schedule) => (schedule.id === id ? change(schedule) : schedule))
  const isSame = schedules.every((schedule, index) => schedule === before.schedules[index])
  return isSame ? before : { ...before, schedules }
}

/**
 * Whether a supervisor has anything to do for it. A firing that was open when the schedule was paused still gets its
 * outcome.
 */
export const needsKeeper = ({ status, lastFiring }: Schedule): boolean =>
  status === "active" || lastFiring?.outcome === "open"

/** The name of a run begun by a firing: `sch2@2026-11-18T08:00:00.000Z`. */
export const firingName = (id: string, due: string): string => `${id}@${due}`

export const readFiringName = (name: string): { readonly id: string; readonly due: string } | undefined => {
  const [, id, due] = /^(sch[1-9]\d{0,8})@(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/.exec(name) ?? []
  return id === undefined || due === undefined ? undefined : { id, due }
}
