/**
 * `run spawn --best-of`: the same task several times, each run with its own worktree and worker, and one table at the
 * end.
 */
import { Failure, type RunId } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"
import { isEnded, type Run } from "../domain/run.ts"
import { spacePlace, type SpacePlace } from "../store/place.ts"
import { compareRuns } from "./compare-runs.ts"
import { findRun } from "./find-run.ts"
import { launchWorker } from "./launch-worker.ts"
import { cancelRun } from "./run-cancel.ts"
import { readReport, runDocument, sparse } from "./run-document.ts"
import type { RunPlan } from "./run-plan.ts"
import type { SpawnDocument } from "./run-schema.ts"
import type { State } from "./state.ts"
import { ensureSupervisor } from "./supervisor.ts"
import type { World } from "./world.ts"

export const runBestOf = async (
  plans: readonly RunPlan[],
  contest: string,
  state: State,
  world: World,
): Promise<SpawnDocument> => {
  const [first] = plans
  if (first === undefined) throw new Failure("BACKGROUND_LAUNCH_FAILED", { reason: "it has no plan" })
  const space = spacePlace(state.place, first.space)
  const end = (ids: readonly RunId[]): Promise<unknown> =>
    Promise.all(ids.map((id) => endOne(id, { space, state, graceMs: first.policy.killGraceMs })))
  const ids: RunId[] = []
  try {
    for (const plan of plans) {
      world.signal.throwIfAborted()
      const id = await launchWorker({ kind: "begin", plan: { ...plan, contest } }, state, world)
      if (id === undefined) throw new Failure("BACKGROUND_LAUNCH_FAILED", { reason: "it ended at once" })
      ids.push(id)
      world.progress(`Run ${id} started.`)
    }
  } catch (error) {
    await end(ids)
    throw error
  }
  await ensureSupervisor(state, world)
  if (!world.json && world.face === "command")
    world.stderr.write(`Runs ${ids.join(", ")} in space ${space.id}\n`)
  if (!first.background) {
    await untilEnded(ids, { space, state, world })
    if (world.signal.aborted) {
      await end(ids)
      world.signal.throwIfAborted()
    }
  }
  const runs = await Promise.all(ids.map((id) => findRun(space, id, state)))
  const compared = await compareRuns(runs, { space, state, world })
  const chosen =
    runs.find(({ id }) => compared.some((row) => row.run_id === id && row.best === true)) ?? runs[0]
  if (chosen === undefined) throw new Failure("BACKGROUND_LAUNCH_FAILED", { reason: "no run was begun" })
  const report = first.background ? undefined : readReport(space, chosen)
  return sparse({
    ...runDocument(space, chosen),
    background: first.background ? true : undefined,
    report,
    contest: compared,
  })
}

const untilEnded = async (
  ids: readonly RunId[],
  { space, state, world }: { readonly space: SpacePlace; readonly state: State; readonly world: World },
): Promise<void> => {
  const isOver = (run: Run): boolean => isEnded(run) || run.status === "paused"
  for (let open = ids; open.length > 0 && !world.signal.aborted;) {
    const runs = await Promise.all(open.map((id) => findRun(space, id, state)))
    open = runs.filter((run) => !isOver(run)).map(({ id }) => id)
    if (open.length === 0) return
    world.progress(`${open.join(", ")} at work.`)
    await world.clock.sleep(LIMIT.pollMs, world.signal)
  }
}

const endOne = async (
  id: RunId,
  options: { readonly space: SpacePlace; readonly state: State; readonly graceMs: number },
): Promise<void> => {
  const run = await findRun(options.space, id, options.state)
  if (!isEnded(run)) await cancelRun({ ...options, run })
}
