/** What a run without a worktree did to its checkout: kept when it begins and when it ends, for `run diff`. */
import { createHash } from "node:crypto"

import { Failure, type RunId } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"
import type { Run } from "../domain/run.ts"
import { findRepository } from "../repository/find-repository.ts"
import type { Repository } from "../repository/repository.ts"
import { keepRunTree, pruneRunTrees, runTreesRange } from "../repository/run-trees.ts"
import { openRepositoryHere } from "./repository-here.ts"
import type { RunContext } from "./run-context.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

/** Never stops a run from working: if nothing can be kept, nothing is shown later. */
export const keepRunMoment = async (
  { plan, run, state, world }: Pick<RunContext, "plan" | "run" | "state" | "world">,
  moment: "start" | "end",
): Promise<void> => {
  if (plan.worktree !== undefined || (plan.launch.permission ?? "read-only") === "read-only") return
  try {
    const repository = await repositoryAt(plan.cwd, state, world)
    if (repository === undefined) return
    await keepRunTree(repository, moment, nameOf(run.start, plan.space, state, world))
    if (moment === "end") await pruneRunTrees(repository.git, LIMIT.keptRunTrees)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
  }
}

/** Throws RUN_WITHOUT_DIFF if its beginning was not kept. */
export const rangeOfRun = async (run: Run, space: string, state: State, world: World) => {
  const { cwd = "" } = run
  const repository = await repositoryAt(cwd, state, world)
  const range =
    repository === undefined ? undefined : await runTreesRange(repository, nameOf(run, space, state, world))
  if (repository === undefined || range === undefined)
    throw new Failure("RUN_WITHOUT_DIFF", { run: run.id, cwd })
  return { repository, range }
}

const repositoryAt = async (
  cwd: string,
  state: State,
  world: Pick<World, "env">,
): Promise<Repository | undefined> => {
  const found = findRepository(cwd)
  if (found === undefined) return undefined
  const repository = await openRepositoryHere(found, state.place, world)
  return repository.head === undefined || repository.isBare ? undefined : repository
}

/** Sorts by age, and stays unique when two projects in one repository have spaces with the same id. */
const nameOf = (
  { id, startedAt }: { readonly id: RunId; readonly startedAt: string },
  space: string,
  { place }: Pick<State, "place">,
  world: Pick<World, "uuid">,
) => {
  const project = createHash("sha256").update(place.project).digest("hex").slice(0, 12)
  return {
    name: `${startedAt.replaceAll(/\D/g, "")}-${project}-${space}-${id}`,
    run: id,
    token: world.uuid(),
  }
}
