import { stopDeadChats } from "../store/chat-store.ts"
/** Records what is already true: chats and runs whose holder is gone. A healthy space is only looked at. */
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

/**
 * All spaces. Every live chat and run has its lock file in `sessions/`, so a space
 * where that directory is empty has nothing to sweep and no log of it is read.
 */
export const sweepAll = async (world: Pick<World, "env" | "cwd" | "clock" | "warn">): Promise<void> => {
  const state = openState({ ...world, warn: () => undefined })
  for (const found of listSpaces(state.place)) {
    if (found.tag === "damaged") continue
    const space = spacePlace(state.place, found.id)
    if (directoryNames(space.chats).length > 0) await sweepSpace(space, state)
  }
}
