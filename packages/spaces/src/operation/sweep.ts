/** Records what is already true: chats and runs whose holder is gone. A healthy space is only read. */
import { asSpaceId } from "../domain/identifier.ts"
import { isEnded, type Run } from "../domain/run.ts"
import { stopDeadChats } from "../store/chat-store.ts"
import { spacePlace, type SpacePlace } from "../store/place.ts"
import { isAlive } from "../store/process-table.ts"
import { settleRuns } from "../store/run-liveness.ts"
import { readRuns } from "../store/run-store.ts"
import { hasSchedules } from "../store/schedule-store.ts"
import { directoryNames, listSpaces } from "../store/space-store.ts"
import { openState } from "./open-state.ts"
import type { State } from "./state.ts"
import { ensureSupervisor } from "./supervisor.ts"
import type { World } from "./world.ts"

/** True if a run is left for a supervisor to resume. */
export const sweepSpace = async (space: SpacePlace, state: State): Promise<boolean> => {
  const left = (await settleRuns(space, readRuns(space, state.onDamage), state)).filter(hasNobody)
  const resting = new Set(left.map(({ id }) => id))
  await stopDeadChats(space, { now: state.now(), onDamage: state.onDamage, resting })
  return left.some(({ status }) => status !== "paused")
}

/** It has not ended, and no process works on it. */
const hasNobody = (run: Run): boolean => !isEnded(run) && (run.worker === undefined || !isAlive(run.worker))

type SweepWorld = Pick<World, "env" | "cwd" | "clock" | "warn" | "program">

/** All spaces. */
export const sweepAll = async (world: SweepWorld): Promise<void> => {
  const state = openState({ ...world, warn: () => undefined })
  let isLeft = false
  for (const found of listSpaces(state.place)) {
    if (found.tag === "damaged") continue
    const space = spacePlace(state.place, found.id)
    if (mayHold(space) && (await sweepSpace(space, state))) isLeft = true
  }
  if (isLeft || hasSchedules(state.place)) await ensureSupervisor(state, world)
}

/** The runs of one space, for an agent in it. Its chats are left to people. */
export const sweepRuns = async (given: string, world: SweepWorld): Promise<void> => {
  const state = openState({ ...world, warn: () => undefined })
  const id = asSpaceId(given)
  if (id === undefined) return
  const space = spacePlace(state.place, id)
  if (!mayHold(space)) return
  const runs = await settleRuns(space, readRuns(space, state.onDamage), state)
  if (runs.some(hasNobody)) await ensureSupervisor(state, world)
}

/**
 * Every live chat and run has its lock file in `sessions/`. If that directory is empty, there is nothing to sweep and
 * no log of the space is read.
 */
const mayHold = (space: SpacePlace): boolean => directoryNames(space.chats).length > 0

/** `s1 r2 waiting`: runs that have not ended. */
export const openRuns = (state: State): readonly string[] =>
  listSpaces(state.place).flatMap((found) => {
    if (found.tag === "damaged") return []
    const space = spacePlace(state.place, found.id)
    return readRuns(space, state.onDamage)
      .filter((run) => !isEnded(run))
      .map((run) => `${space.id} ${run.id} ${run.status}`)
  })
