/** The run that a user named, in the current space and in its true state. */
import { Failure } from "@meridian/protocol"

import { asRunId } from "../domain/identifier.ts"
import { readReference, RUN_REFERENCES } from "../domain/run-reference.ts"
import type { Run } from "../domain/run.ts"
import { spacePlace, type SpacePlace } from "../store/place.ts"
import { settleRuns } from "../store/run-liveness.ts"
import { readNewestRuns, readRun } from "../store/run-store.ts"
import { findSpace } from "../store/space-store.ts"
import { requireSpace } from "./space-context.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

export const spaceHere = (
  space: string | undefined,
  state: State,
  world: Pick<World, "env" | "cwd" | "face">,
): SpacePlace => spacePlace(state.place, findSpace(state.place, requireSpace(space, world)).id)

export const findRun = async (space: SpacePlace, reference: string, state: State): Promise<Run> => {
  const read = readReference(reference)
  switch (read.tag) {
    case "unknown":
      throw new Failure("RUN_REFERENCE_UNKNOWN", { reference, known: Object.keys(RUN_REFERENCES).join(", ") })
    case "newest": {
      const runs = readNewestRuns(space, { count: 1, accepts: read.accepts }, state.onDamage)
      const run = (await settleRuns(space, runs, state)).findLast(read.accepts)
      if (run === undefined) throw new Failure("NO_RUN", { what: `reference '${reference}'` })
      return run
    }
    case "id": {
      const id = asRunId(reference)
      const run = id === undefined ? undefined : readRun(space, id, state.onDamage)
      const [settled] = run === undefined ? [] : await settleRuns(space, [run], state)
      if (settled === undefined) throw new Failure("RUN_NOT_FOUND", { run: reference, space: space.id })
      return settled
    }
  }
}
