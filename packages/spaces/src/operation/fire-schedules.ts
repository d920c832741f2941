/**
 * Fires the schedules of a project, for its supervisor. A firing is claimed in the document before anything starts,
 * and the run it begins carries its name. A supervisor that finds a claim without an outcome looks for that run, and
 * begins it only if there is none. So each due time begins at most one run, whatever dies in between.
 */
import { spawn } from "node:child_process"

import { asObject, Failure, objectAt, oneLine, textAt } from "@meridian/protocol"

import { dueFiring } from "../domain/due-firing.ts"
import { asRunId } from "../domain/identifier.ts"
import { decodeJson } from "../domain/json-line.ts"
import { isEnded } from "../domain/run.ts"
import {
  changeSchedule,
  firingName,
  needsKeeper,
  type Firing,
  type Schedule,
  type Schedules,
} from "../domain/schedule.ts"
import { spacePlace } from "../store/place.ts"
import { readRun, readRunOfFiring } from "../store/run-store.ts"
import { changeSchedules, watchSchedules } from "../store/schedule-store.ts"
import { readConfig } from "./config.ts"
import type { CronTimes } from "./cron-times.ts"
import { notify } from "./notify.ts"
import { isOwnSchedule } from "./seal.ts"
import { isoTime, type State } from "./state.ts"
import type { World } from "./world.ts"

export interface ScheduleKeeper {
  /** Starts what is due without waiting for it. Returns how many schedules there are to watch. */
  readonly look: () => Promise<number>
  /** Resolves when everything that was started has its outcome. */
  readonly settle: () => Promise<void>
}

type FiringWorld = Pick<World, "env" | "cwd" | "clock" | "program" | "warn">

/** `env` is the environment of a fired command. */
export const openScheduleKeeper = (
  state: State,
  world: FiringWorld,
  env: Readonly<Record<string, string>>,
): ScheduleKeeper => {
  const read = watchSchedules(state.place)
  const busy = new Map<string, Promise<void>>()
  let known: Schedules | undefined
  let watched: readonly Watched[] = []
  return {
    look: async () => {
      const now = read()
      if (now !== known) {
        known = now
        watched = await openWatched(now, state, world)
      }
      let alive = 0
      for (const { schedule, times } of watched) {
        const nowMs = world.clock.now()
        const isOpen = schedule.lastFiring?.outcome === "open"
        const isPaused = schedule.status === "paused"
        if (isOpen || busy.has(schedule.id) || (!isPaused && times.next(nowMs) !== undefined)) alive += 1
        if (busy.has(schedule.id)) continue
        if (!isOpen && (isPaused || dueFiring(clockOf(schedule, times, nowMs)).tag === "none")) continue
        const work = fire(schedule, times, { state, world, env })
          // The lock is held or the disk is full: the next look tries again.
          .catch(() => undefined)
          .finally(() => busy.delete(schedule.id))
        busy.set(schedule.id, work)
      }
      return alive
    },
    settle: async () => {
      await Promise.all(busy.values())
    },
  }
}

interface Watched {
  readonly schedule: Schedule
  readonly times: CronTimes
}

const openWatched = async (
  { schedules }: Schedules,
  state: State,
  world: FiringWorld,
): Promise<readonly Watched[]> => {
  const watched = schedules.filter((one) => needsKeeper(one) && isOwnSchedule(one, state, world))
  if (watched.length === 0) return []
  const { cronTimes } = await import("./cron-times.ts")
  return watched.map((schedule) => ({ schedule, times: cronTimes(schedule) }))
}

const clockOf = (schedule: Schedule, times: CronTimes, nowMs: number) => ({
  createdMs: Date.parse(schedule.createdAt),
  handledMs: Date.parse(schedule.handledUntil),
  nowMs,
  ...times,
})

interface FiringContext {
  readonly state: State
  readonly world: FiringWorld
  readonly env: Readonly<Record<string, string>>
}

const fire = async (
  { id }: Pick<Schedule, "id">,
  times: CronTimes,
  context: FiringContext,
): Promise<void> => {
  const { state, world } = context
  let claimed: Schedule | undefined
  await changeSchedules(state.place, (before) =>
    changeSchedule(before, id, (found) => {
      if (!isOwnSchedule(found, state, world)) return found
      if (found.status === "paused") return settlePaused(found, context)
      const after = claim(found, times, context)
      claimed = after.lastFiring?.outcome === "open" ? after : undefined
      return after
    }),
  )
  if (claimed?.lastFiring === undefined) return
  const { due } = claimed.lastFiring
  const outcome = await carryOutFiring(claimed, due, context)
  await changeSchedules(state.place, (before) =>
    changeSchedule(before, id, (found) =>
      found.lastFiring?.due === due && found.lastFiring.outcome === "open"
        ? withOutcome(found, { ...found.lastFiring, ...outcome })
        : found,
    ),
  )
  if (outcome.outcome === "refused") await tellRefused(claimed, outcome.message ?? "", context)
}

/** A firing claimed by a dead process may have begun its run. */
const settleBegun = (schedule: Schedule, { state }: FiringContext): Schedule => {
  const { lastFiring: last } = schedule
  if (last?.outcome !== "open") return schedule
  const begun = readRunOfFiring(spacePlace(state.place, schedule.space), firingName(schedule.id, last.due))
  return begun === undefined
    ? schedule
    : withOutcome(schedule, { ...last, outcome: "begun", runId: begun.id })
}

/** A paused schedule begins nothing, but a command already started may still begin its run. */
const settlePaused = (schedule: Schedule, context: FiringContext): Schedule => {
  const settled = settleBegun(schedule, context)
  const { lastFiring: last } = settled
  const mayBegin = last !== undefined && context.world.clock.now() - Date.parse(last.at) < PATIENCE_MS
  return last?.outcome !== "open" || mayBegin
    ? settled
    : withOutcome(settled, { ...last, outcome: "skipped", message: "paused before it began" })
}

/** Claims the firing for this look, with outcome `open`. */
const claim = (schedule: Schedule, times: CronTimes, context: FiringContext): Schedule => {
  const nowMs = context.world.clock.now()
  const at = isoTime(nowMs)
  const settled = settleBegun(schedule, context)
  const decided = dueFiring(clockOf(settled, times, nowMs))
  switch (decided.tag) {
    case "none":
      return settled
    case "rewind":
      return { ...settled, handledUntil: at }
    case "fire": {
      const due = isoTime(decided.dueMs)
      return {
        ...settled,
        handledUntil: at,
        lastFiring: {
          due,
          at,
          outcome: "open",
          ...(decided.isLate ? { message: `caught up at ${at}` } : {}),
        },
      }
    }
  }
}

const withOutcome = (schedule: Schedule, firing: Firing): Schedule => ({
  ...schedule,
  lastFiring: firing,
  ...(firing.runId === undefined ? {} : { lastRun: firing.runId }),
})

type Outcome = Pick<Firing, "outcome" | "runId" | "message">

const carryOutFiring = async (
  schedule: Schedule,
  due: string,
  context: FiringContext,
): Promise<Partial<Outcome> & Pick<Outcome, "outcome">> => {
  const space = spacePlace(context.state.place, schedule.space)
  const before = schedule.lastRun
  const earlier = before === undefined ? undefined : readRun(space, before, () => undefined)
  if (schedule.overlap !== true && earlier !== undefined && !isEnded(earlier))
    return { outcome: "skipped", message: `run ${earlier.id} of an earlier firing is ${earlier.status}` }
  const answer = await startCommand(schedule, firingName(schedule.id, due), context)
  const run = asRunId(textAt(answer.document, "run_id"))
  if (run !== undefined) return { outcome: "begun", runId: run }
  // The run may have begun anyway: the answer came too late, or the command was killed.
  const begun = readRunOfFiring(space, firingName(schedule.id, due))
  if (begun !== undefined) return { outcome: "begun", runId: begun.id }
  const error = objectAt(answer.document, "error")
  const said = textAt(error, "message") ?? answer.problem
  return { outcome: "refused", message: oneLine(said, MOST_CHARACTERS) }
}

const MOST_CHARACTERS = 300
const MOST_BYTES = 1_048_576
/** For a command that only begins a background run. */
const PATIENCE_MS = 120_000

interface CommandAnswer {
  readonly document: ReturnType<typeof asObject>
  /** Why there is no document. */
  readonly problem: string
}

/** Runs the command as a person would type it, in the background. Never rejects. */
const startCommand = (
  { command, words, space, cwd, configPath }: Schedule,
  firing: string,
  { world, env }: FiringContext,
): Promise<CommandAnswer> =>
  new Promise((resolve) => {
    const [program, ...first] = world.program
    const ours = ["--background", "--json", "--firing", firing, "--space", space]
    const child = spawn(program, [...first, ...command.split("."), ...ours, ...words], {
      cwd,
      env: configPath === undefined ? env : { ...env, MERIDIAN_CONFIG: configPath },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: PATIENCE_MS,
      killSignal: "SIGKILL",
    })
    let said = ""
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (piece: string) => {
      if (said.length < MOST_BYTES) said += piece
    })
    child.once("error", (error) => resolve({ document: undefined, problem: error.message }))
    child.once("close", (code, signal) =>
      resolve({
        document: asObject(decodeJson(said)),
        problem: signal === null ? `the command ended with ${code}` : `the command was ended by ${signal}`,
      }),
    )
  })

/** Tells the person through their own program: nobody checks a list every morning. */
const tellRefused = async (
  { id, space }: Schedule,
  why: string,
  { world, env }: FiringContext,
): Promise<void> => {
  try {
    const { config } = await readConfig({ ...world, env, configPath: undefined, warn: () => undefined })
    await notify(
      config["notify.command"],
      { event: "asks", message: `Schedule ${id} started nothing: ${why}`, facts: { schedule: id, space } },
      { ...world, env },
    )
  } catch (error) {
    // The configuration cannot be read. The list of schedules says what happened.
    if (!(error instanceof Failure)) throw error
  }
}
