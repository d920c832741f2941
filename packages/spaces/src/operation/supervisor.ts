/**
 * The supervisor of a state root: a small process that resumes runs whose worker is gone and fires schedules. At most
 * one works at a time (`.spaces/supervisor.lock`). It opens no port, and exits when there is nothing left to
 * supervise. A command that finds a run without a worker, or begins one in the background, makes sure there is a
 * supervisor. `meridian serve` and a service unit stay, and take its place whenever it is free.
 */
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"

import { probeLocks } from "../store/lock-probe.ts"
import { acquireLock } from "../store/lock.ts"
import { supervisorLock } from "../store/place.ts"
import { isOutdated, wantThisVersion } from "../store/supervisor-version.ts"
import { supervisorEnvironment } from "./child-environment.ts"
import { openScheduleKeeper, type ScheduleKeeper } from "./fire-schedules.ts"
import { openRunKeeper } from "./look-after-runs.ts"
import { openState } from "./open-state.ts"
import { SUPERVISOR_VARIABLE } from "./resumable.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

const LOOK_MS = 1_000
const IDLE_MS = 60_000
const MAKE_ROOM_MS = 5_000

type SupervisedWorld = Pick<World, "env" | "cwd" | "clock" | "warn" | "program" | "uuid" | "signal">

/**
 * Works until there was nothing to do for a while, or the state root is gone. With `stays` only until the latter, or
 * until stopped. False if another one is at work.
 */
export const supervise = async (
  world: SupervisedWorld,
  { stays }: { readonly stays: boolean },
): Promise<boolean> => {
  const state = openState({ ...world, warn: () => undefined })
  if (isOutdated(state.place)) return false
  // An older one needs a moment to make room.
  const lock = await acquireLock(supervisorLock(state.place), { waitMs: stays ? 0 : MAKE_ROOM_MS })
  if (lock === undefined) return false
  let schedules: ScheduleKeeper | undefined
  try {
    const runs = openRunKeeper(state, world)
    schedules = openScheduleKeeper(state, world, supervisorEnvironment(world.env, state.place))
    let idleMs = 0
    for (let elapsedMs = 0; !world.signal.aborted && existsSync(lock.path); elapsedMs += LOOK_MS) {
      const open = (await runs.look(elapsedMs)) + (await schedules.look())
      if (open > 0) idleMs = 0
      else if (idleMs >= IDLE_MS && !stays) break
      if (isOutdated(state.place)) break
      await world.clock.sleep(LOOK_MS, world.signal)
      idleMs += LOOK_MS
    }
    return true
  } finally {
    await schedules?.settle()
    lock.release({ remove: true })
  }
}

const FREE_PLACE_MS = 5_000

/**
 * Supervises whenever no other process does, until the world stops. Not from inside a chat or a run: an agent's
 * rights are not enough for the runs of others. Never rejects.
 */
export const standBy = async (world: SupervisedWorld): Promise<void> => {
  const isAgents = AGENT_MARKS.some((name) => (world.env[name] ?? "") !== "")
  if (world.env[SUPERVISOR_VARIABLE] === "off" || isAgents) return
  while (!world.signal.aborted) {
    try {
      const { place } = openState({ ...world, warn: () => undefined })
      // A folder without state stays that way.
      if (existsSync(place.spaces)) await supervise(world, { stays: true })
    } catch {
      // The state is not ours, or the lock is unavailable. Another moment may be better.
    }
    await world.clock.sleep(FREE_PLACE_MS, world.signal)
  }
}

const AGENT_MARKS = ["MERIDIAN_SPACE_ID", "MERIDIAN_PARENT_RUN_ID", "MERIDIAN_TIER"]

/** Starts one, detached, unless one is at work. Never throws: the caller's work continues without it. */
export const ensureSupervisor = async (
  state: State,
  world: Pick<World, "env" | "program">,
): Promise<void> => {
  if (world.env[SUPERVISOR_VARIABLE] === "off") return
  try {
    const lock = supervisorLock(state.place)
    const mayBeOlder = wantThisVersion(state.place)
    if (!mayBeOlder && (await probeLocks([lock])).has(lock)) return
    const [command, ...args] = world.program
    const child = spawn(command, [...args, "run", "supervise"], {
      cwd: state.place.project,
      env: supervisorEnvironment(world.env, state.place),
      detached: true,
      stdio: "ignore",
    })
    child.once("error", () => undefined)
    child.unref()
  } catch {
    // The next command tries again.
  }
}
