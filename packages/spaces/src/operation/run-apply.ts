import { Failure, type RunId } from "@meridian/protocol"

import { applyOrder, pairsToTry } from "../domain/apply-order.ts"
import { isEnded, type Run } from "../domain/run.ts"
import { changesBetween } from "../repository/changes.ts"
import { findRepository } from "../repository/find-repository.ts"
import { commitTree, mergeCommits } from "../repository/merge.ts"
import { withRepositoryLock } from "../repository/repository-lock.ts"
import type { Repository } from "../repository/repository.ts"
import { rangeOf } from "../repository/work.ts"
import { worktreesPlace } from "../repository/worktree-place.ts"
import type { SpacePlace } from "../store/place.ts"
import { settleRuns } from "../store/run-liveness.ts"
import { readRun, readRuns } from "../store/run-store.ts"
import { applyRun, type Applied, type ApplyScene } from "./apply-run.ts"
import { findRun, spaceHere } from "./find-run.ts"
import { RUN_APPLY } from "./hands.meta.ts"
import { repositoryOf } from "./isolate-run.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { parentRun, parentTier, placeHere } from "./parent.ts"
import { recoverApply } from "./recover-apply.ts"
import { discardRun } from "./run-discard.ts"
import { sparse } from "./run-document.ts"
import { requireWork } from "./run-work.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

export const runApply = implement(RUN_APPLY, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    if (input.all === input.runIds.length > 0)
      throw new Failure("USAGE", {
        problem: input.all ? "--all applies every run, so none is named." : "Which run is to be applied?",
        next: "name runs ('meridian run apply r3'), or give --all alone.",
      })
    const left: { readonly run: RunId; readonly failure: Failure }[] = []
    const runs = input.all
      ? await applicable(space, state, world, left)
      : await Promise.all(input.runIds.map((id) => findRun(space, id, state)))
    const applied: Applied[] = []
    for (const run of runs) {
      try {
        const done = await applyOne(run, {
          space,
          state,
          world,
          isStaged: input.noCommit,
          isForced: input.force,
        })
        applied.push(done)
        world.progress(`Run ${run.id} is applied.`)
      } catch (error) {
        // For a single run, the command itself has failed.
        if (!(error instanceof Failure) || runs.length === 1) throw error
        left.push({ run: run.id, failure: error })
        if (!input.all) break
      }
    }
    const discarded = input.discardRest ? await discardRest(applied, left, { space, state, world }) : []
    return {
      discarded,
      applied: applied.map(({ run, ...done }) =>
        sparse({ run_id: run, ...done, checks: done.checks === 0 ? undefined : done.checks }),
      ),
      left: left.map(({ run, failure }) => ({
        run_id: run,
        code: failure.code,
        message: failure.message,
        next: failure.next,
      })),
      staged: input.noCommit,
    }
  },
  text: ({ applied, staged, discarded }) =>
    applied.length === 0
      ? "(nothing was applied)"
      : [
          ...applied.map(({ run_id: run, commit, commits, files, branch, checks = 0 }) => {
            if (files.length === 0) return `${run}: nothing that is not there already`
            const proof = checks === 0 ? "" : `, ${counted(checks, "check")} green`
            const what = `${run}: ${counted(files.length, "file")}`
            return staged
              ? `${what} staged${proof}`
              : `${what}, ${counted(commits, "commit")} on ${branch ?? "a detached HEAD"}, now ${commit?.slice(0, SHORT)}${proof}`
          }),
          ...(discarded.length === 0 ? [] : [`discarded: ${discarded.join(", ")}`]),
        ].join("\n"),
  notes: ({ left }) =>
    left.map(({ code, message, next }) => `ERROR [${code}]: ${message} Next: ${next}`).join("\n"),
  exitCode: ({ left }) => (left.length === 0 ? 0 : 1),
})

/** A run that cannot be discarded is kept, and listed with those that were not applied. */
const discardRest = async (
  applied: readonly Applied[],
  left: { readonly run: RunId; readonly failure: Failure }[],
  { space, state, world }: Pick<ApplyScene, "space" | "state" | "world">,
): Promise<readonly RunId[]> => {
  const runs = readRuns(space, state.onDamage)
  const taken = new Set(applied.map(({ run }) => run))
  const contests = new Set(runs.flatMap(({ id, contest }) => (taken.has(id) ? (contest ?? []) : [])))
  const rest = runs.filter(
    ({ id, contest, worktree }) =>
      contest !== undefined &&
      contests.has(contest) &&
      !taken.has(id) &&
      worktree?.state === "open" &&
      !worktree.isRemoved,
  )
  const discarded: RunId[] = []
  for (const { id } of rest)
    try {
      await discardRun(await findRun(space, id, state), space, state, world)
      discarded.push(id)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      left.push({ run: id, failure: error })
    }
  return discarded
}

/** A person chooses among several runs at one task. Applying more than one would do the same work twice. */
const isDecided = (run: Run, runs: readonly Run[]): boolean =>
  run.contest === undefined || !runs.some((other) => other.id !== run.id && other.contest === run.contest)

const SHORT = 10

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`

const applyOne = async (
  run: Run,
  { space, state, world, ...how }: Pick<ApplyScene, "space" | "state" | "world" | "isStaged" | "isForced">,
): Promise<Applied> => {
  const { worktree } = await requireWork(space, run, state)
  requireOwnPlace(run, worktree.checkout, state, world)
  const place = worktreesPlace(world.env, worktree.repository)
  const waits = {
    signal: world.signal,
    onWait: () => world.warn("APPLY_WAITS", { repository: worktree.repository }),
  }
  return await withRepositoryLock(place.applyLock, waits, async (lock) => {
    const repository = await repositoryOf(worktree, run.id, state, world)
    await recoverApply(repository, { place, lock, state, token: world.uuid() })
    // It may have been applied, or its run continued, while we waited.
    const work = await requireWork(space, readRun(space, run.id, state.onDamage) ?? run, state)
    const others = (): readonly Run[] =>
      readRuns(space, state.onDamage).filter((other) => other.worktree?.state === "applied")
    return await applyRun(work, { space, state, world, place, lock, others, ...how })
  })
}

/** A sandboxed agent must not reach out of its place, and a read-only one must not write. */
const requireOwnPlace = (run: Run, checkout: string, state: State, world: World): void => {
  const parent = parentTier(undefined, state, world)
  if (parent === "read-only") throw new Failure("TIER_ABOVE_PARENT", { wished: "workspace-write", parent })
  if (parentRun(world) === undefined) return
  if (findRepository(placeHere(undefined, state, world))?.top !== checkout)
    throw new Failure("APPLY_ELSEWHERE", { run: run.id, checkout })
}

/** Every run of the space with unapplied work, in the order that conflicts least. */
const applicable = async (
  space: SpacePlace,
  state: State,
  world: World,
  left: { readonly run: RunId; readonly failure: Failure }[],
): Promise<readonly Run[]> => {
  const settled = await settleRuns(space, readRuns(space, state.onDamage), state)
  const open = settled.filter((run) => run.worktree?.state === "open" && !run.worktree.isRemoved)
  // The last of the runs that worked in one worktree represents all of them.
  const last = new Map(open.map((run) => [run.worktree?.path, run]))
  const done = [...last.values()].filter((run) => isEnded(run) && run.status === "succeeded")
  const runs = done.filter((run) => isDecided(run, done))
  for (const run of done)
    if (!runs.includes(run)) left.push({ run: run.id, failure: new Failure("CONTEST_OPEN", { run: run.id }) })
  const [first] = runs
  if (first?.worktree === undefined || runs.length < 2) return runs
  const repository = await repositoryOf(first.worktree, first.id, state, world)
  const order = await orderOf(repository, runs, world)
  return order.flatMap((id) => runs.filter((run) => run.id === id))
}

/** Only runs that touch the same file are tried against each other, up to a bound. */
const MOST_PAIRS = 500

const orderOf = async (
  repository: Repository,
  runs: readonly Run[],
  world: Pick<World, "uuid">,
): Promise<readonly RunId[]> => {
  const { git: place } = repository
  const tips = new Map<RunId, string>()
  const touched = new Map<RunId, ReadonlySet<string>>()
  for (const { id, worktree } of runs) {
    if (worktree === undefined) continue
    const { from, to } = await rangeOf(repository, { run: id, worktree, token: world.uuid() })
    touched.set(id, new Set((await changesBetween(place, from, to)).map(({ path }) => path)))
    tips.set(id, await commitTree(place, { tree: treeOf(to), parent: from, message: "meridian" }))
  }
  const conflicts = new Map<RunId, Set<RunId>>(runs.map(({ id }) => [id, new Set()]))
  for (const [one, other] of pairsToTry(touched).slice(0, MOST_PAIRS)) {
    const [left, right] = [tips.get(one), tips.get(other)]
    if (left === undefined || right === undefined) continue
    if ((await mergeCommits(place, left, right)).tag === "tree") continue
    conflicts.get(one)?.add(other)
    conflicts.get(other)?.add(one)
  }
  return applyOrder(runs.map(({ id }) => ({ id, conflicts: conflicts.get(id) ?? new Set() })))
}

/** For a clean worktree the range names a commit. */
const treeOf = (to: string): string => (to.endsWith("^{tree}") ? to : `${to}^{tree}`)
