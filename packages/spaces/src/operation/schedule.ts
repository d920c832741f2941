/** `meridian schedule PATTERN -- run spawn …`, and the commands that list, pause, resume and remove schedules. */
import { Failure, type SpaceId } from "@meridian/protocol"

import { asSpaceId } from "../domain/identifier.ts"
import {
  addSchedule,
  changeSchedule,
  SCHEDULE_LIMIT,
  type Schedule,
  type ScheduledWork,
  type Schedules,
} from "../domain/schedule.ts"
import { changeSchedules, readSchedules } from "../store/schedule-store.ts"
import { createSpace } from "../store/space-store.ts"
import { cronTimes, ownZone, timeIn } from "./cron-times.ts"
import { decodeInput } from "./decode-input.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { SUPERVISOR_VARIABLE } from "./resumable.ts"
import { RUN_CONTINUE, RUN_SPAWN } from "./run.meta.ts"
import { scheduleDocument, scheduleRow, type ScheduleDocument } from "./schedule-document.ts"
import { SCHEDULE, SCHEDULE_LIST, SCHEDULE_PAUSE, SCHEDULE_REMOVE, SCHEDULE_RESUME } from "./schedule.meta.ts"
import { isOwnSchedule, openSeal, sealSchedule } from "./seal.ts"
import { shellLine } from "./shell-words.ts"
import { isoTime, type State } from "./state.ts"
import { ensureSupervisor } from "./supervisor.ts"
import { columns } from "./text-table.ts"
import type { World } from "./world.ts"

export const schedule = implement(SCHEDULE, {
  run: async (input, world) => {
    requirePerson("schedule", world)
    const state = openState(world)
    const zone = input.zone ?? ownZone()
    const times = cronTimes({ pattern: input.pattern, zone })
    if (times.next(world.clock.now()) === undefined)
      throw new Failure("SCHEDULE_NEVER", { pattern: input.pattern })
    const checked = await checkCommand(input.command, world)
    requireRoom(readSchedules(state.place))
    const space = checked.space ?? (await ownSpace(state))
    // Its work is sealed, so the key must exist first.
    await openSeal(space, state, world)
    const at = state.now()
    let id = ""
    const { schedules } = await changeSchedules(state.place, (before) => {
      requireRoom(before)
      const { after, added } = addSchedule(before, (fresh) => {
        const work: ScheduledWork = {
          id: fresh,
          pattern: input.pattern,
          zone,
          command: checked.command,
          words: checked.words,
          space,
          cwd: world.cwd,
          ...(world.env["MERIDIAN_CONFIG"] ? { configPath: world.env["MERIDIAN_CONFIG"] } : {}),
          ...(input.overlap ? { overlap: true } : {}),
        }
        const seal = sealSchedule(work, state, world)
        return {
          ...work,
          createdAt: at,
          status: "active",
          handledUntil: at,
          ...(seal === undefined ? {} : { seal }),
        }
      })
      ;({ id } = added)
      return after
    })
    await watchOver(state, world)
    return scheduleDocument(requireSchedule({ lastNumber: 0, schedules }, id), state, world)
  },
  text: (made) => `${told(made)}\n  ${shellLine(made.command)}`,
})

export const scheduleList = implement(SCHEDULE_LIST, {
  run: (_input, world) => {
    const state = openState(world)
    return Promise.resolve({
      schedules: readSchedules(state.place).schedules.map((one) => scheduleDocument(one, state, world)),
    })
  },
  text: ({ schedules }) =>
    schedules.length === 0 ? "(no schedules)" : columns(schedules.map((one) => scheduleRow(one))),
})

export const schedulePause = implement(SCHEDULE_PAUSE, {
  run: (input, world) =>
    changeOne("schedule pause", input.scheduleId, world, (found) => ({ ...found, status: "paused" })),
  text: (changed) => told(changed),
})

export const scheduleResume = implement(SCHEDULE_RESUME, {
  run: (input, world) =>
    changeOne("schedule resume", input.scheduleId, world, (found) =>
      found.status === "active"
        ? found
        : { ...found, status: "active", handledUntil: isoTime(world.clock.now()) },
    ),
  text: (changed) => told(changed),
})

export const scheduleRemove = implement(SCHEDULE_REMOVE, {
  run: async (input, world) => {
    requirePerson("schedule remove", world)
    const state = openState(world)
    await changeSchedules(state.place, (before) => {
      requireSchedule(before, input.scheduleId)
      return { ...before, schedules: before.schedules.filter(({ id }) => id !== input.scheduleId) }
    })
    return { schedule_id: input.scheduleId, removed: true }
  },
  text: ({ schedule_id: id }) => `removed: ${id}`,
})

const changeOne = async (
  command: string,
  id: string,
  world: World,
  change: (found: Schedule) => Schedule,
): Promise<ScheduleDocument> => {
  requirePerson(command, world)
  const state = openState(world)
  const after = await changeSchedules(state.place, (before) => {
    const found = requireSchedule(before, id)
    if (!isOwnSchedule(found, state, world)) throw new Failure("SCHEDULE_FOREIGN", { schedule: id })
    return changeSchedule(before, id, change)
  })
  await watchOver(state, world)
  return scheduleDocument(requireSchedule(after, id), state, world)
}

const COMMANDS = ["run.spawn", "run.continue"] as const

type DryRun = (values: Readonly<Record<string, unknown>>, world: World) => Promise<unknown>

const DRY_RUN: Readonly<Record<Schedule["command"], DryRun>> = {
  "run.spawn": async (values, world) =>
    (await import("./run-spawn.ts")).runSpawn.run(decodeInput(RUN_SPAWN, { values, face: "command" }), world),
  "run.continue": async (values, world) =>
    (await import("./run-continue.ts")).runContinue.run(
      decodeInput(RUN_CONTINUE, { values, face: "command" }),
      world,
    ),
}

interface CheckedCommand {
  readonly command: Schedule["command"]
  readonly words: readonly string[]
  readonly space: SpaceId | undefined
}

/** Throws the failures of the command itself. Writes nothing. */
const checkCommand = async (typed: readonly string[], world: World): Promise<CheckedCommand> => {
  const refuse = (problem: string): Failure => new Failure("SCHEDULE_COMMAND", { problem })
  const given = typed[0] === "meridian" ? typed.slice(1) : typed
  if (given.length === 0) throw refuse("There is no command after --")
  if (world.readCommand === undefined) throw refuse("Schedules are made on the command line")
  const { name, rest, values } = await world.readCommand(given)
  const command = COMMANDS.find((known) => known === name)
  if (command === undefined) throw refuse(`'${name.replaceAll(".", " ")}' cannot be scheduled`)
  if (values["prompt"] === "-") throw refuse("A scheduled command has no stdin to read a prompt from")
  if (values["dry_run"] === true) throw refuse("A dry run starts nothing")
  if (values["firing"] !== undefined) throw refuse("--firing is for schedules themselves")
  const bytes = Buffer.byteLength(JSON.stringify(rest))
  if (bytes > SCHEDULE_LIMIT.commandBytes)
    throw refuse(
      `The command has ${bytes} bytes and may have ${SCHEDULE_LIMIT.commandBytes}; a long prompt can be a file, given with --file`,
    )
  await DRY_RUN[command]({ ...values, dry_run: true }, world)
  const space = values["space"]
  return {
    command,
    words: rest,
    space: typeof space === "string" ? asSpaceId(space) : undefined,
  }
}

/** Runs of one schedule share a space, so that they are found in one place. */
const ownSpace = async (state: State): Promise<SpaceId> => {
  const made = await createSpace(state.place, { name: undefined, now: state.now() })
  return made.id
}

const requireRoom = ({ schedules }: Schedules): void => {
  if (schedules.length >= SCHEDULE_LIMIT.schedules)
    throw new Failure("SCHEDULES_FULL", { limit: SCHEDULE_LIMIT.schedules })
}

const requireSchedule = ({ schedules }: Schedules, id: string): Schedule => {
  const found = schedules.find((one) => one.id === id)
  if (found === undefined) throw new Failure("SCHEDULE_NOT_FOUND", { schedule: id })
  return found
}

/** A firing has no parent whose rights would bound it. */
const requirePerson = (command: string, world: Pick<World, "mode" | "face">): void => {
  if (world.mode === "agent" || world.face === "tool") throw new Failure("SCHEDULE_NEEDS_PERSON", { command })
}

const watchOver = async (state: State, world: World): Promise<void> => {
  if (world.env[SUPERVISOR_VARIABLE] === "off")
    world.warn("SCHEDULES_UNWATCHED", { variable: SUPERVISOR_VARIABLE })
  await ensureSupervisor(state, world)
}

const told = ({ schedule_id: id, status, next, zone, space_id: space }: ScheduleDocument): string =>
  next === undefined
    ? `${id} ${status}`
    : `${id} ${status}: next ${timeIn(Date.parse(next), zone)} (${zone}), in space ${space}`
