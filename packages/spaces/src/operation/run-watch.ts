import { LIMIT } from "../domain/limit.ts"
import { isEnded, type Run } from "../domain/run.ts"
import type { SpacePlace } from "../store/place.ts"
import { settleRuns } from "../store/run-liveness.ts"
import { logWatch, readNewestRuns } from "../store/run-store.ts"
import { spaceHere } from "./find-run.ts"
import { openLiveRuns } from "./live-runs.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { seconds, sparse } from "./run-document.ts"
import { elapsedSecs, doing, taskOf, watchRun } from "./run-look.ts"
import { RUN_WATCH } from "./run.meta.ts"
import type { State } from "./state.ts"
import { columns } from "./text-table.ts"

/** More would not fit on a screen. */
const MOST_RUNS = 50

export const runWatch = implement(RUN_WATCH, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    const seen = new Map<Run["id"], Run>()
    await using live = await openLiveRuns(space, world, input.once)
    const isNews = logWatch(space)
    for (;;) {
      if (isNews())
        for (const run of await openOrKnown(space, state, seen)) {
          seen.set(run.id, run)
        }
      const open = [...seen.values()].filter((run) => !isEnded(run))
      live.show(open)
      if (open.length === 0 || input.once) break
      await world.clock.sleep(LIMIT.pollMs, world.signal)
      world.signal.throwIfAborted()
    }
    const now = world.clock.now()
    return {
      runs: [...seen.values()].map((run) =>
        sparse({
          run_id: run.id,
          status: run.status,
          task: taskOf(space, run),
          activity: doing(watchRun(space, run.id)(run)),
          elapsed_secs: elapsedSecs(run, now),
        }),
      ),
    }
  },
  text: ({ runs }) =>
    runs.length === 0
      ? "(nothing runs)"
      : columns(
          runs.map((run) => [run.run_id, run.activity ?? run.status, seconds(run.elapsed_secs), run.task]),
        ),
})

/** Open runs, and those that were open when we began to watch. */
const openOrKnown = async (
  space: SpacePlace,
  state: State,
  seen: ReadonlyMap<Run["id"], Run>,
): Promise<readonly Run[]> => {
  const newest = readNewestRuns(space, { count: MOST_RUNS }, state.onDamage)
  const runs = await settleRuns(space, newest, state)
  return runs.filter((run) => !isEnded(run) || seen.has(run.id))
}
