import { oneLine } from "@meridian/protocol"

import { verdictOf, type Run } from "../domain/run.ts"
import { settleRuns } from "../store/run-liveness.ts"
import { readNewestRuns } from "../store/run-store.ts"
import { spaceHere } from "./find-run.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { dollars, seconds, sparse } from "./run-document.ts"
import { taskOf } from "./run-look.ts"
import { RUN_LIST } from "./run.meta.ts"
import type { State } from "./state.ts"
import { columns } from "./text-table.ts"
import type { World } from "./world.ts"

export const runList = implement(RUN_LIST, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    const model = input.model === undefined ? undefined : await modelId(input.model, state, world)
    const status = input.failed ? "failed" : input.status
    const accepts = (run: Run): boolean =>
      (status === undefined || run.status === status) && (model === undefined || run.model === model)
    const filtered = status !== undefined || model !== undefined
    const wanted = { count: input.limit, accepts: filtered ? accepts : undefined }
    const found = await settleRuns(space, readNewestRuns(space, wanted, state.onDamage), state)
    const runs = found.filter(accepts).slice(-input.limit)
    return {
      runs: runs.toReversed().map((run) =>
        sparse({
          run_id: run.id,
          status: run.status,
          model: run.model,
          space_id: space.id,
          chat_id: run.chatId,
          parent_run_id: run.parentRunId,
          harness: run.harness === "" ? undefined : run.harness,
          agent: run.agent,
          task: taskOf(space, run) || undefined,
          started_at: run.startedAt === "" ? undefined : run.startedAt,
          duration_secs: run.end?.durationSecs,
          cost_usd: run.end?.costUsd,
          verdict: verdictOf(run),
          waiting_for: run.waitingFor,
          waiting_until: run.waitingUntil,
        }),
      ),
    }
  },
  text: ({ runs }) =>
    runs.length === 0
      ? "(no runs)"
      : columns(
          runs.map((run) => [
            run.run_id,
            run.status,
            run.model === "" ? "-" : run.model,
            run.space_id,
            seconds(run.duration_secs),
            dollars(run.cost_usd, 2),
            run.verdict ?? "-",
            oneLine(run.task ?? "", TASK_CHARACTERS),
          ]),
        ),
})

const TASK_CHARACTERS = 60

/** Runs are recorded by id, so an alias means its model. Listing without a filter needs no catalogue. */
const modelId = async (name: string, state: State, { env }: Pick<World, "env">): Promise<string> => {
  const { loadCatalogue } = await import("../store/catalogue.ts")
  const { models } = await loadCatalogue(state.place.root, env)
  return models.find(({ id, aliases }) => id === name || aliases.includes(name))?.id ?? name
}
