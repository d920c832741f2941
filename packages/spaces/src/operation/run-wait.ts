import { Failure } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"
import { isEnded, type Run } from "../domain/run.ts"
import type { SpacePlace } from "../store/place.ts"
import { logWatch } from "../store/run-store.ts"
import { readConfig } from "./config.ts"
import { findRun, spaceHere } from "./find-run.ts"
import { openLiveRuns, type LiveRuns } from "./live-runs.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { runDocument, seconds } from "./run-document.ts"
import { RUN_WAIT } from "./run.meta.ts"
import type { State } from "./state.ts"
import { columns } from "./text-table.ts"
import type { World } from "./world.ts"

export const runWait = implement(RUN_WAIT, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    const references = input.runId === undefined ? input.runIds : [...input.runIds, input.runId]
    if (references.length === 0)
      throw new Failure("USAGE", {
        problem: "At least one run is needed.",
        next: "name the runs to wait for.",
      })
    const timeoutSecs = input.timeoutSecs ?? (await readConfig(world)).config["timeouts.wait_seconds"]
    // A word such as @latest is resolved once, when we begin to wait.
    const runs: Run[] = []
    for (const reference of new Set(references)) runs.push(await findRun(space, reference, state))
    await using live = await openLiveRuns(space, world, input.quiet)
    const ended = await waitForAll({
      live,
      space,
      state,
      world,
      runs,
      deadline: world.clock.now() + timeoutSecs * 1000,
    })
    const documents = ended.map((run) =>
      runDocument(space, run, { report: input.report, files: input.includeFiles }),
    )
    const count = (status: Run["status"]): number => ended.filter((run) => run.status === status).length
    const [only] = documents.length === 1 ? documents : []
    return {
      runs: documents,
      total_runs: documents.length,
      succeeded_runs: count("succeeded"),
      failed_runs: count("failed"),
      cancelled_runs: count("cancelled"),
      any_failed: count("succeeded") < documents.length,
      ...(only === undefined ? {} : { run_id: only.run_id, status: only.status }),
      ...(only?.exit_code === undefined ? {} : { exit_code: only.exit_code }),
    }
  },
  text: ({ runs }) => {
    const rows = runs.map((run) => [
      run.run_id,
      run.status,
      seconds(run.duration_secs),
      String(run.exit_code ?? "-"),
      run.verdict ?? "-",
    ])
    const reports = runs.flatMap((run) =>
      run.report === undefined ? [] : ["", `# ${run.run_id}`, "", run.report],
    )
    return [columns([["run_id", "status", "duration", "exit", "verdict"], ...rows]), ...reports].join("\n")
  },
  exitCode: ({ any_failed: anyFailed }) => (anyFailed ? 1 : 0),
})

interface Waiting {
  readonly space: SpacePlace
  readonly state: State
  readonly world: World
  readonly runs: readonly Run[]
  readonly deadline: number
  readonly live: LiveRuns
}

/** A run whose worker dies in between ends too, because looking settles it. */
const waitForAll = async ({
  space,
  state,
  world,
  runs,
  deadline,
  live,
}: Waiting): Promise<readonly Run[]> => {
  let current = runs
  const isNews = logWatch(space)
  for (;;) {
    const open = current.filter((run) => !isEnded(run))
    if (open.length === 0) return current
    live.show(open)
    world.signal.throwIfAborted()
    if (world.clock.now() >= deadline)
      throw new Failure("WAIT_TIMEOUT", { runs: open.map((run) => `'${run.id}'`).join(", ") })
    world.progress(`Waiting for ${open.map((run) => run.id).join(", ")}.`)
    await world.clock.sleep(Math.min(LIMIT.pollMs, Math.max(deadline - world.clock.now(), 1)), world.signal)
    if (!isNews()) continue
    const next: Run[] = []
    for (const run of current) next.push(isEnded(run) ? run : await findRun(space, run.id, state))
    current = next
  }
}
