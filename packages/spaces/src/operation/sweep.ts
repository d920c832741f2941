/** Records what is already true: chats and runs whose holder is gone. A healthy space is only looked at. */
import { asSpaceId } from "../domain/identifier.ts"
import { stopDeadChats } from "../store/chat-store.ts"
import { spacePlace, type SpacePlace } from "../store/place.ts"
import { settleRuns } from "../store/run-liveness.ts"
import { readRuns } from "../store/run-store.ts"
import { directoryNames, listSpaces } from "../store/space-store.ts"
import { openState, type State } from "./state.ts"
import type { World } from "./world.ts"

export const sweepSpace = async (space: SpacePlace, state: State): Promise<void> => {
  await settleRuns(space, readRuns(space, state.onDamage), state)
  await stopDeadChats(space, { now: state.now(), onDamage: state.onDamage })
}

type SweepWorld = Pick<World, "env" | "cwd" | "clock" | "warn">

/** All spaces. */
export const sweepAll = async (world: SweepWorld): Promise<void> => {
  const state = openState({ ...world, warn: () => undefined })
  for (const found of listSpaces(state.place)) {
    if (found.tag === "damaged") continue
    const space = spacePlace(state.place, found.id)
    if (mayHold(space)) await sweepSpace(space, state)
  }
}

/** The runs of one space, for an agent in it: its chats are left to people. */
export const sweepRuns = async (given: string, world: SweepWorld): Promise<void> => {
  const state = openState({ ...world, warn: () => undefined })
  const id = asSpaceId(given)
  if (id === undefined) return
  const space = spacePlace(state.place, id)
  if (mayHold(space)) await settleRuns(space, readRuns(space, state.onDamage), state)
}

/**
 * Every chat and every run at work has its lock file in `sessions/`, so a space where that directory is empty has nothing
 * to sweep and no log of it is read.
 */
const mayHold = (space: SpacePlace): boolean => directoryNames(space.chats).length > 0
