/** Makes the worktree of a run ready before its first attempt, and checks it when another worker resumes the run. */
import { rmSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"

import { Failure, withoutCredentials } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"
import type { WorktreeEventRecord } from "../domain/worktree-record.ts"
import type { RunWorktree } from "../domain/worktree.ts"
import {
  requireCheckout,
  makeWorktree,
  unmakeWorktree,
  type MakeWorktree,
} from "../repository/make-worktree.ts"
import { withRepositoryLock } from "../repository/repository-lock.ts"
import type { Repository } from "../repository/repository.ts"
import { copyIncluded } from "../repository/worktree-include.ts"
import { worktreesPlace } from "../repository/worktree-place.ts"
import { recordWorktrees } from "../store/run-store.ts"
import { runProgram, type ProgramEnd } from "./bounded-program.ts"
import { repositoryOf } from "./isolate-run.ts"
import { recoverApply } from "./recover-apply.ts"
import type { RunContext } from "./run-context.ts"
import type { Isolation } from "./run-plan.ts"

/** Throws a coded failure, and then leaves nothing of it. Returns early if the run is stopped. */
export const fillWorktree = async (context: RunContext): Promise<void> => {
  const { plan, run, state, world, stopper } = context
  const { worktree, isolation } = plan
  if (worktree === undefined) return
  const repository = await repositoryOf(worktree, run.id, state, world)
  if (isolation === undefined || context.read().attempts.length > 0) {
    await outlastApply(context, repository)
    const { gitDir } = requireCheckout(repository, worktree, run.id)
    // The process that held it was killed with the worker and can no longer remove it.
    if (context.resumption !== undefined) rmSync(join(gitDir, "index.lock"), { force: true })
    return
  }
  tellWhatIsLeftOut(context, repository)
  const wish: MakeWorktree = {
    run: run.id,
    worktree,
    place: worktreesPlace(world.env, worktree.repository),
    repository,
    isAgain: context.resumption !== undefined,
    owner: state.place.spaces,
    uuid: world.uuid,
    cores: availableParallelism(),
    signal: stopper.signal,
  }
  try {
    const changes = await makeWorktree(wish)
    if (changes !== undefined) await record(context, { what: "filled", changes })
    await makeReady(context, { repository, worktree, isolation })
  } catch (error) {
    if (!(error instanceof Failure && error.code === "WORKTREE_TAKEN")) await unmakeWorktree(wish)
    // The next worker makes it again.
    if (stopper.isLeft()) return
    await record(context, { what: "removed" })
    if (!stopper.signal.aborted) throw error
  }
}

/** The work of the run it continues may be in the middle of an apply, and its files are then in use until that ends. */
const outlastApply = async (
  { plan, state, world, stopper }: RunContext,
  repository: Repository,
): Promise<void> => {
  if (plan.worktree === undefined) return
  const place = worktreesPlace(world.env, plan.worktree.repository)
  await withRepositoryLock(
    place.applyLock,
    { signal: stopper.signal, onWait: () => world.warn("APPLY_WAITS", { repository: repository.top }) },
    (lock) => recoverApply(repository, { place, lock, state, token: world.uuid() }),
  )
}

const record = (
  { space, run, state }: RunContext,
  happened: Pick<WorktreeEventRecord, "what" | "changes">,
): Promise<void> => recordWorktrees(space, [{ event: "worktree", id: run.id, at: state.now(), ...happened }])

const tellWhatIsLeftOut = ({ world, run }: RunContext, { strange, hasSubmodules, top }: Repository): void => {
  if (hasSubmodules) world.warn("WORKTREE_SUBMODULES", { run: run.id })
  if (strange.length > 0) world.warn("GIT_PROGRAMS_OFF", { checkout: top, drivers: strange.join(", ") })
}

const makeReady = async (
  { plan, world, files, stopper, run }: RunContext,
  {
    repository,
    worktree,
    isolation,
  }: { readonly repository: Repository; readonly worktree: RunWorktree; readonly isolation: Isolation },
): Promise<void> => {
  if (!repository.isBare) await copyIncluded(repository, worktree.path, files.scratch, stopper.signal)
  const { setup, keepVariables } = isolation
  if (setup === undefined || setup.trim() === "") return
  world.progress(`Run ${run.id}: ${setup}`)
  const end = await runProgram({
    command: setup,
    cwd: plan.cwd,
    env: withoutCredentials(world.env, { secrets: [], keep: keepVariables }),
    log: files.setupLog,
    limitMs: LIMIT.setupMs,
    clock: world.clock,
    signal: stopper.signal,
    uuid: world.uuid,
  })
  stopper.signal.throwIfAborted()
  if (end.exitCode !== 0)
    throw new Failure("WORKTREE_SETUP_FAILED", { command: setup, why: whyOf(end), log: files.setupLog })
}

const whyOf = ({ why, exitCode }: ProgramEnd): string =>
  why === "timeout"
    ? `it took longer than ${LIMIT.setupMs / 60_000} minutes`
    : `exit code ${exitCode ?? "unknown"}`
