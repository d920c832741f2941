import { Failure } from "@meridian/protocol"

import type { Run } from "../domain/run.ts"
import type { SpacePlace } from "../store/place.ts"
import { settleRuns } from "../store/run-liveness.ts"
import { readRuns } from "../store/run-store.ts"
import { comparedText, compareRuns } from "./compare-runs.ts"
import { findRun, spaceHere } from "./find-run.ts"
import { RUN_COMPARE } from "./hands.meta.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import type { State } from "./state.ts"

export const runCompare = implement(RUN_COMPARE, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    const named = await Promise.all(input.runIds.map((id) => findRun(space, id, state)))
    const runs = await widen(named, space, state)
    return { runs: await compareRuns(runs, { space, state, world }) }
  },
  text: ({ runs }) => comparedText(runs),
})

/** One run represents all that were spawned with it. Without any, the newest contest is taken. */
const widen = async (named: readonly Run[], space: SpacePlace, state: State): Promise<readonly Run[]> => {
  if (named.length > 1) return named
  const all = readRuns(space, state.onDamage)
  const contest =
    named.length === 1 ? named[0]?.contest : all.findLast((run) => run.contest !== undefined)?.contest
  if (contest === undefined) {
    if (named.length === 1) return named
    throw new Failure("USAGE", {
      problem: "Which runs are to be compared?",
      next: "name them ('meridian run compare r3 r4'), or spawn some with --best-of.",
    })
  }
  return await settleRuns(
    space,
    all.filter((run) => run.contest === contest),
    state,
  )
}
