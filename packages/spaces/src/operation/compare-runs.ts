/** Compares runs: how each ended, what its checks say, how much it changed, what it cost. */
import type { TypeOf } from "@meridian/protocol"

import { bestOf } from "../domain/contest.ts"
import { verdictOf, type Run } from "../domain/run.ts"
import { diffText, rangeOf } from "../repository/work.ts"
import type { SpacePlace } from "../store/place.ts"
import type { COMPARED_RUN } from "./hands-fields.ts"
import { repositoryOf } from "./isolate-run.ts"
import { dollars, modelName, seconds, sparse } from "./run-document.ts"
import type { State } from "./state.ts"
import { columns } from "./text-table.ts"
import type { World } from "./world.ts"

export type ComparedRun = TypeOf<typeof COMPARED_RUN>

interface Scene {
  readonly space: SpacePlace
  readonly state: State
  readonly world: Pick<World, "env" | "uuid">
}

export const compareRuns = async (runs: readonly Run[], scene: Scene): Promise<readonly ComparedRun[]> => {
  const best = bestOf(
    runs.map((run) => ({
      id: run.id,
      status: run.status,
      verdict: verdictOf(run),
      changedCheckFiles: run.end?.changedCheckFiles?.length ?? 0,
      costUsd: run.end?.costUsd,
      durationSecs: run.end?.durationSecs,
    })),
  )
  const isAnyGood = runs.some(({ id, status }) => id === best?.id && status === "succeeded")
  const rows: ComparedRun[] = []
  for (const run of runs)
    rows.push(
      sparse({
        run_id: run.id,
        status: run.status,
        verdict: verdictOf(run),
        changed_check_files: run.end?.changedCheckFiles,
        ...(await changesOf(run, scene)),
        cost_usd: run.end?.costUsd,
        duration_secs: run.end?.durationSecs,
        model: run.model,
        harness: run.harness,
        worktree_state: run.worktree?.state,
        best: isAnyGood && run.id === best?.id ? true : undefined,
      }),
    )
  return rows
}

/** Empty for a run whose work is gone, or that has none of its own. */
const changesOf = async (
  run: Run,
  { state, world }: Scene,
): Promise<Pick<ComparedRun, "files" | "additions" | "deletions">> => {
  const { worktree } = run
  if (worktree === undefined) return {}
  try {
    const repository = await repositoryOf(worktree, run.id, state, world)
    const range = await rangeOf(repository, { run: run.id, worktree, token: world.uuid() })
    const told = await diffText(repository.git, range, ["--shortstat"])
    const count = (what: string): number => Number(new RegExp(`(\\d+) ${what}`).exec(told)?.[1] ?? 0)
    return { files: count("file"), additions: count("insertion"), deletions: count("deletion") }
  } catch {
    return {}
  }
}

export const comparedText = (rows: readonly ComparedRun[]): string => {
  const best = rows.find((row) => row.best === true && row.worktree_state === "open")
  const others = rows.filter((row) => row !== best && row.worktree_state === "open").map((row) => row.run_id)
  return [
    columns([
      ["RUN", "STATUS", "VERDICT", "CHANGES", "COST", "TIME", "MODEL"],
      ...rows.map((row) => [
        row.run_id,
        row.worktree_state === "applied" || row.worktree_state === "discarded"
          ? `${row.status}, ${row.worktree_state}`
          : row.status,
        verdictCell(row),
        row.files === undefined ? "-" : `${row.files} files +${row.additions} -${row.deletions}`,
        dollars(row.cost_usd, 2),
        seconds(row.duration_secs),
        modelName(row.model, row.harness),
      ]),
    ]),
    ...(best === undefined
      ? []
      : [
          "",
          `Look: meridian run diff ${best.run_id}`,
          `Take: meridian run apply ${best.run_id}${others.length === 0 ? "" : ` --discard-rest (throws ${others.join(", ")} away)`}`,
        ]),
  ].join("\n")
}

const verdictCell = ({ verdict, changed_check_files: files = [] }: ComparedRun): string =>
  `${verdict ?? "-"}${files.length === 0 ? "" : `, changed ${files.join(", ")}`}`
