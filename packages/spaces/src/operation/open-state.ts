/** The start of every operation on spaces, chats and runs. */
import { openPlace } from "../store/place.ts"
import { isResumable } from "./resumable.ts"
import { isoTime, type State } from "./state.ts"
import type { World } from "./world.ts"

/** For a log full of garbage, only the first damaged lines are reported. */
const MOST_DAMAGE_TOLD = 20

export const openState = (world: Pick<World, "env" | "cwd" | "clock" | "warn">): State => {
  const told = new Set<string>()
  const state: State = {
    place: openPlace(world.env, world.cwd),
    now: () => isoTime(world.clock.now()),
    sleep: (milliseconds) => world.clock.sleep(milliseconds),
    onDamage: ({ file, line }) => {
      if (told.has(`${file}:${line}`) || told.size >= MOST_DAMAGE_TOLD) return
      told.add(`${file}:${line}`)
      world.warn("LOG_DAMAGED", { file, line })
    },
    resumable: (space, run) => isResumable(space, run, state, world),
  }
  return state
}
