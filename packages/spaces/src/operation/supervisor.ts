/**
 * The supervisor of a state root: a small process that carries on with runs whose worker is gone. At most one works at a time
 * (`.spaces/supervisor.lock`), it opens no port, and it leaves when nothing is left to look after. Whoever finds a run without
 * a worker, or begins one in the background, makes sure that there is one.
 */
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"

import type { RunId } from "@meridian/protocol"

import { asSpaceId } from "../domain/identifier.ts"
import { isEnded, type Run } from "../domain/run.ts"
import { probeLocks } from "../store/lock-probe.ts"
import { acquireLock } from "../store/lock.ts"
import { runPlace, spacePlace, supervisorLock, type SpacePlace } from "../store/place.ts"
import { isAlive } from "../store/process-table.ts"
import { settleRuns } from "../store/run-liveness.ts"
import { logWatch, readRuns } from "../store/run-store.ts"
import { directoryNames } from "../store/space-store.ts"
import { workerEnvironment } from "./child-environment.ts"
import { launchWorker } from "./launch-worker.ts"
import { openState } from "./open-state.ts"
import { SUPERVISOR_VARIABLE } from "./resumable.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

const LOOK_MS = 1_000
const IDLE_MS = 60_000

type SupervisedWorld = Pick<World, "env" | "cwd" | "clock" | "warn" | "program" | "uuid" | "signal">

/** Works until nothing was left to do for a while, or the state root is gone. False when another one is at work. */
export const supervise = async (world: SupervisedWorld): Promise<boolean> => {
  const state = openState({ ...world, warn: () => undefined })
  const lock = await acquireLock(supervisorLock(state.place), { waitMs: 0 })
  if (lock === undefined) return false
  try {
    const watches = new Map<string, SpaceWatch>()
    let idleSinceMs = world.clock.now()
    while (!world.signal.aborted && existsSync(lock.path)) {
      const open = await lookAtAll(watches, state, world)
      if (open > 0) idleSinceMs = world.clock.now()
      else if (world.clock.now() - idleSinceMs >= IDLE_MS) break
      await world.clock.sleep(LOOK_MS, world.signal)
    }
    return true
  } finally {
    lock.release({ remove: true })
  }
}

/** Starts one, detached, unless one is at work. Never throws: what was begun goes on without it. */
export const ensureSupervisor = async (
  state: State,
  world: Pick<World, "env" | "program">,
): Promise<void> => {
  if (world.env[SUPERVISOR_VARIABLE] === "off") return
  try {
    const lock = supervisorLock(state.place)
    if ((await probeLocks([lock])).has(lock)) return
    const [command, ...args] = world.program
    const child = spawn(command, [...args, "run", "supervise"], {
      cwd: state.place.project,
      env: supervisorEnvironment(world.env, state),
      detached: true,
      stdio: "ignore",
    })
    child.once("error", () => undefined)
    child.unref()
  } catch {
    // The next command tries again.
  }
}

/** It belongs to no run and no chat, so it has no parent whose rights would bound it: it only carries out sealed plans. */
const supervisorEnvironment = (env: World["env"], state: State): Record<string, string> => {
  const own = workerEnvironment(env)
  for (const name of PERSONAL) delete own[name]
  return { ...own, MERIDIAN_STATE_ROOT: state.place.root, MERIDIAN_REPO_ROOT: state.place.project }
}

const PERSONAL = [
  "MERIDIAN_SPACE_ID",
  "MERIDIAN_CHAT_ID",
  "MERIDIAN_SESSION_ID",
  "MERIDIAN_PARENT_RUN_ID",
  "MERIDIAN_DEPTH",
  "MERIDIAN_TIER",
  "MERIDIAN_SPACE_FS",
]

interface SpaceWatch {
  readonly isNews: () => boolean
  runs: readonly Run[]
}

/** How many runs there are to look after. Logs that have not grown are not read again. */
const lookAtAll = async (
  watches: Map<string, SpaceWatch>,
  state: State,
  world: SupervisedWorld,
): Promise<number> => {
  let open = 0
  for (const name of directoryNames(state.place.spaces)) {
    const id = asSpaceId(name)
    if (id === undefined) continue
    const space = spacePlace(state.place, id)
    const watch = watches.get(id) ?? { isNews: logWatch(space), runs: [] }
    watches.set(id, watch)
    if (watch.isNews()) watch.runs = readRuns(space, state.onDamage).filter((run) => !isEnded(run))
    if (watch.runs.length === 0) continue
    const due = watch.runs.filter((run) => isDue(run, world.clock.now()))
    if (due.length > 0) await carryOn(space, due, state, world)
    open += watch.runs.filter(({ status }) => status !== "paused").length
  }
  return open
}

/** Nobody works on it, and its time has come. */
const isDue = (run: Run, nowMs: number): boolean => {
  if (run.worker !== undefined && isAlive(run.worker)) return false
  if (run.status === "paused") return run.asked === "resume"
  const until = run.status === "waiting" ? Date.parse(run.waitingUntil ?? "") : Number.NaN
  return Number.isNaN(until) || until <= nowMs || run.asked === "resume"
}

/** What cannot be resumed ends here; what still has a harness at work is left until that has ended. */
const carryOn = async (
  space: SpacePlace,
  due: readonly Run[],
  state: State,
  world: SupervisedWorld,
): Promise<void> => {
  const held = await probeLocks(due.map((run) => runPlace(space, run.id).lock))
  const free = due.filter((run) => !held.has(runPlace(space, run.id).lock))
  for (const run of await settleRuns(space, free, state)) {
    if (isEnded(run) || world.signal.aborted) continue
    await resumeInWorker(space, run.id, state, world)
  }
}

export const resumeInWorker = async (
  space: SpacePlace,
  run: RunId,
  state: State,
  world: Pick<World, "program" | "cwd" | "env" | "uuid">,
): Promise<void> => {
  try {
    await launchWorker({ kind: "resume", space: space.id, run }, state, {
      ...world,
      env: supervisorEnvironment(world.env, state),
    })
  } catch {
    // Its plan or its harness is gone: the next look settles the run, or tries again.
  }
}
