/** Whether a run whose worker is gone will be resumed. If not, why. */
import { fruitlessAttempts, type Run } from "../domain/run.ts"
import type { SpacePlace } from "../store/place.ts"
import type { State } from "./state.ts"
import { readStoredPlan } from "./stored-plan.ts"
import type { World } from "./world.ts"

/** `off` leaves dead runs to people. */
export const SUPERVISOR_VARIABLE = "MERIDIAN_SUPERVISOR"

/** Resumes in a row without progress. */
export const MOST_FRUITLESS = 5

export const isResumable = (
  space: SpacePlace,
  run: Run,
  state: State,
  world: Pick<World, "env">,
): true | string => {
  if (run.status === "paused") return true
  if (world.env[SUPERVISOR_VARIABLE] === "off") return `${SUPERVISOR_VARIABLE} is off`
  if (fruitlessAttempts(run) >= MOST_FRUITLESS)
    return `${MOST_FRUITLESS} attempts in a row said and did nothing`
  const kept = readStoredPlan(space, run.id, state, world)
  // A run whose project was moved waits for 'space rebind'.
  return kept.tag === "none" ? kept.why : true
}
