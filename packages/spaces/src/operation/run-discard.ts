import { Failure } from "@meridian/protocol"

import type { Run } from "../domain/run.ts"
import { keptRef } from "../domain/worktree.ts"
import { changesBetween } from "../repository/changes.ts"
import { git } from "../repository/git.ts"
import { checkoutOf } from "../repository/make-worktree.ts"
import { commitTree } from "../repository/merge.ts"
import { withRepositoryLock } from "../repository/repository-lock.ts"
import { takeSnapshot } from "../repository/snapshot.ts"
import { startOf } from "../repository/work.ts"
import { worktreesPlace } from "../repository/worktree-place.ts"
import type { SpacePlace } from "../store/place.ts"
import { findRun, spaceHere } from "./find-run.ts"
import { RUN_DISCARD } from "./hands.meta.ts"
import { repositoryOf } from "./isolate-run.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { recoverApply } from "./recover-apply.ts"
import { recordForAll, removeWork, requireWork, type RunWork } from "./run-work.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

export const runDiscard = implement(RUN_DISCARD, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    if (input.runIds.length === 0)
      throw new Failure("USAGE", {
        problem: "Which run is to be thrown away?",
        next: "name it: 'meridian run discard r3'.",
      })
    const runs = await Promise.all(input.runIds.map((id) => findRun(space, id, state)))
    // All of them are checked before one is thrown away.
    const works = []
    for (const run of runs) works.push(await requireWork(space, run, state, ["open", "staged"]))
    const discarded = []
    for (const work of works) {
      const { kept, files } = await discardRun(work.run, space, state, world)
      discarded.push({ run_id: work.run.id, kept, files })
    }
    return { discarded }
  },
  text: ({ discarded }) =>
    discarded
      .map(
        ({ run_id: run, kept, files }) => `${run}: discarded ${files} changed files; ${kept} still has them`,
      )
      .join("\n"),
})

export const discardRun = async (
  run: Run,
  space: SpacePlace,
  state: State,
  world: World,
): Promise<{ readonly kept: string; readonly files: number }> => {
  const allowed = ["open", "staged"] as const
  return await alone(await requireWork(space, run, state, allowed), state, world, async () => {
    const now = await requireWork(space, await findRun(space, run.id, state), state, allowed)
    return await discardWork(now, state, world, (happened) => recordForAll(space, now, happened, state))
  })
}

/** Holds the lock, so that no other process applies it at the same time. */
const alone = async <T>(
  { run, worktree }: RunWork,
  state: State,
  world: World,
  body: () => Promise<T>,
): Promise<T> => {
  const place = worktreesPlace(world.env, worktree.repository)
  const onWait = (): void => world.warn("APPLY_WAITS", { repository: worktree.repository })
  return await withRepositoryLock(place.applyLock, { signal: world.signal, onWait }, async (lock) => {
    const repository = await repositoryOf(worktree, run.id, state, world)
    await recoverApply(repository, { place, lock, state, token: world.uuid() })
    return await body()
  })
}

/** The work stays reachable under a ref of ours. Only then are folder and branch removed. */
const discardWork = (
  work: RunWork,
  state: State,
  world: World,
  record: (happened: Parameters<typeof recordForAll>[2]) => Promise<void>,
): Promise<{ readonly kept: string; readonly files: number }> => {
  const { run, worktree } = work
  const place = worktreesPlace(world.env, worktree.repository)
  return withRepositoryLock(place.lock, world, async (lock) => {
    const opened = await repositoryOf(worktree, run.id, state, world)
    const repository = { ...opened, git: { ...opened.git, lock } }
    const checkout = checkoutOf(repository, worktree)
    const kept = keptRef(worktree.branch)
    let tip = worktree.base
    let files = 0
    if (checkout === undefined)
      tip = await git(repository.git, ["rev-parse", "--verify", `refs/heads/${worktree.branch}`]).catch(
        () => tip,
      )
    else {
      const snapshot = await takeSnapshot(checkout, { run: run.id, token: world.uuid() })
      tip = snapshot.isClean
        ? snapshot.head
        : await commitTree(repository.git, {
            tree: snapshot.tree,
            parent: snapshot.head,
            message: `Discarded work of run ${run.id}`,
          })
    }
    const base = await startOf(repository, worktree, tip)
    files = (await changesBetween(repository.git, base, tip)).length
    await git(repository.git, ["update-ref", kept, tip])
    await record([{ what: "discarded", kept }, { what: "removed" }])
    await removeWork(work, repository, world)
    return { kept, files }
  })
}
