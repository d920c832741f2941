/**
 * What becomes of an agent's claim to be done: the run's checks run where it has worked, and their results go into
 * the log. Red ones become the agent's next message. In a worktree, each check finds the files as the agent left
 * them.
 */
import { relative } from "node:path"

import { decideProof, redWords, type ChecksPlan } from "../domain/check.ts"
import { LIMIT } from "../domain/limit.ts"
import { heldRef } from "../domain/worktree.ts"
import { changesBetween } from "../repository/changes.ts"
import { holdTree, type HeldTree } from "../repository/hold-tree.ts"
import { requireCheckout } from "../repository/make-worktree.ts"
import { takeSnapshot } from "../repository/snapshot.ts"
import { startOf } from "../repository/work.ts"
import { worktreesPlace } from "../repository/worktree-place.ts"
import { withLock } from "../store/lock.ts"
import { sendWords } from "../store/run-inbox.ts"
import { endLeftovers } from "../store/run-liveness.ts"
import { changedCheckFiles } from "./changed-check-files.ts"
import { repositoryOf } from "./isolate-run.ts"
import { runChecks } from "./run-checks.ts"
import type { Leg } from "./run-context.ts"

export interface ProvenEnd {
  readonly tag: "proven"
  readonly verdict: "verified" | "refuted"
  /** Which check refutes it, and how. */
  readonly message?: string
  readonly changedCheckFiles: readonly string[]
}

export type Proven =
  | ProvenEnd
  /** The run has no checks. */
  | { readonly tag: "unproven" }
  /** The agent is told which checks are red. */
  | { readonly tag: "told" }
  /** The run was stopped in between. */
  | { readonly tag: "stopped" }

export const proveRun = async (leg: Leg): Promise<Proven> => {
  const { plan, read, stopper, space, files, state } = leg
  const { checks } = plan
  if (checks === undefined) return { tag: "unproven" }
  const before = read()
  // A killed worker may have left some running.
  if (leg.resumption !== undefined) await endLeftovers(before, files.report, state.sleep)
  const site = await siteOf(leg)
  const attempt = before.attempts.at(-1)?.number ?? 1
  const results = await runChecks({
    run: before.id,
    space,
    plan: checks,
    cwd: plan.cwd,
    place: "run",
    attempt,
    putBack: async () => site?.held.putBack(),
    state,
    world: leg.world,
    signal: stopper.signal,
  }).finally(() => site?.held.release())
  if (stopper.signal.aborted) return { tag: "stopped" }
  const proof = decideProof(results, { earlier: before.checks ?? [], attempt, rounds: checks.rounds })
  if (proof.tag === "told") {
    const words = redWords(results, LIMIT.toldOutputBytes)
    await withLock(space.runsLock, () => sendWords(files, words, state.now()))
    return { tag: "told" }
  }
  const changed = site === undefined ? [] : await site.changedFiles(checks)
  if (proof.tag === "verified" && changed.length > 0)
    leg.world.warn("CHECK_FILES_CHANGED", { run: before.id, files: changed.join(", ") })
  return {
    tag: "proven",
    verdict: proof.tag,
    ...(proof.tag === "refuted" ? { message: proof.message } : {}),
    changedCheckFiles: changed,
  }
}

interface Site {
  readonly held: HeldTree
  readonly changedFiles: (checks: ChecksPlan) => Promise<readonly string[]>
}

/** Undefined if the run has no worktree: others may then change its files too. */
const siteOf = async ({ plan, run, state, world }: Leg): Promise<Site | undefined> => {
  const { worktree } = plan
  if (worktree === undefined) return undefined
  const repository = await repositoryOf(worktree, run.id, state, world)
  const checkout = requireCheckout(repository, worktree, run.id)
  const snapshot = await takeSnapshot(checkout, { run: run.id, token: world.uuid() })
  const place = worktreesPlace(world.env, worktree.repository)
  const held = await holdTree(checkout, {
    snapshot,
    commit: undefined,
    ref: heldRef(worktree.branch),
    place,
    run: run.id,
    uuid: world.uuid,
  })
  return {
    held,
    changedFiles: async ({ commands }) => {
      const from = await startOf(repository, worktree, snapshot.head)
      return await changedCheckFiles(repository.git, {
        commands,
        folder: relative(worktree.path, plan.cwd),
        from,
        to: snapshot.tree,
        changes: await changesBetween(repository.git, from, snapshot.tree),
      })
    },
  }
}
