/** Applies one run. Nothing a user can see changes until the last step, and that step is taken back if it fails. */
import { join } from "node:path"

import { isInside } from "@meridian/continuity/files"
import { Failure, type RunId } from "@meridian/protocol"

import { endOf, isGreen, type ChecksPlan } from "../domain/check.ts"
import { LIMIT } from "../domain/limit.ts"
import { verdictOf, type Run } from "../domain/run.ts"
import { heldRef } from "../domain/worktree.ts"
import { bringOnto, type Brought } from "../repository/bring-onto.ts"
import { changesBetween, type FileChange } from "../repository/changes.ts"
import { findRepository } from "../repository/find-repository.ts"
import { git } from "../repository/git.ts"
import { holdTree } from "../repository/hold-tree.ts"
import { requireCheckout } from "../repository/make-worktree.ts"
import { commitTree, mergeCommits } from "../repository/merge.ts"
import { moveCheckout, requireClean } from "../repository/move-checkout.ts"
import { forgetMove, writeMove } from "../repository/move-journal.ts"
import { withRepositoryLock } from "../repository/repository-lock.ts"
import { bind, readHead, requireAtRest, type Head, type Repository } from "../repository/repository.ts"
import { takeSnapshot, type Checkout, type Snapshot } from "../repository/snapshot.ts"
import { startOf } from "../repository/work.ts"
import type { WorktreesPlace } from "../repository/worktree-place.ts"
import type { HeldLock } from "../store/lock.ts"
import { runPlace, type SpacePlace } from "../store/place.ts"
import { openRepositoryHere } from "./repository-here.ts"
import { runChecks } from "./run-checks.ts"
import { taskOf } from "./run-look.ts"
import { recordForAll, removeWork, type RunWork } from "./run-work.ts"
import type { State } from "./state.ts"
import { readStoredPlan } from "./stored-plan.ts"
import type { World } from "./world.ts"

export interface ApplyScene {
  readonly space: SpacePlace
  readonly state: State
  readonly world: World
  readonly place: WorktreesPlace
  /** The lock of applying. */
  readonly lock: HeldLock
  readonly isStaged: boolean
  /** Its checks are skipped. */
  readonly isForced: boolean
  /** Runs that may have been applied before. */
  readonly others: () => readonly Run[]
}

export interface Applied {
  readonly run: RunId
  /** Undefined if there was nothing to bring, or if it is only staged. */
  readonly commit: string | undefined
  readonly commits: number
  readonly files: readonly string[]
  /** Without `refs/heads/`. Undefined if HEAD is detached. */
  readonly branch: string | undefined
  /** How many checks were green on the applied work. */
  readonly checks: number
}

/** Throws a coded failure, and then everything is as it was. */
export const applyRun = async (work: RunWork, scene: ApplyScene): Promise<Applied> => {
  const { run, worktree } = work
  const { world } = scene
  const target = await targetOf(work, scene)
  const own = requireCheckout(target.repository, worktree, run.id)
  const checks = scene.isForced ? undefined : checksOfWork(work, scene)
  let head = target.head
  for (let round = 0; round < LIMIT.applyRounds; round += 1) {
    const snapshot = await takeSnapshot(own, { run: run.id, token: world.uuid() })
    const base = await startOf({ git: target.checkout.git, head }, worktree, snapshot.head)
    const brought = await bringOnto(target.checkout.git, {
      onto: head,
      snapshot,
      base,
      changes: worktree.changes,
      message: messageOf(work, scene),
    })
    const applied = await land(brought, { work, scene, target: { ...target, head }, snapshot, own, checks })
    if (applied !== undefined) return applied
    head = (await readHead(target.checkout.git)) ?? head
  }
  throw new Failure("APPLY_BRANCH_MOVES", {
    run: run.id,
    checkout: target.checkout.top,
    rounds: LIMIT.applyRounds,
  })
}

interface Target {
  readonly repository: Repository
  readonly checkout: Checkout
  readonly head: Head
}

/** The checkout the run was spawned from. For a bare repository, the one that has its branch. */
const targetOf = async ({ run, worktree }: RunWork, { state, world, lock }: ApplyScene): Promise<Target> => {
  const gone = new Failure("CHECKOUT_GONE", {
    run: run.id,
    checkout: worktree.checkout === "" ? worktree.repository : worktree.checkout,
    branch: worktree.branch,
  })
  const found = findRepository(worktree.checkout === "" ? worktree.repository : worktree.checkout)
  if (found === undefined || found.commonDir !== worktree.repository) throw gone
  const opened = await openRepositoryHere(found, state.place, world)
  const top = opened.isBare ? await checkoutOfBranch(opened) : opened.top
  const near = top === undefined ? undefined : findRepository(top)
  if (near === undefined || opened.head === undefined) throw gone
  requireAtRest(near)
  const repository = { ...opened, git: { ...opened.git, lock } }
  return {
    repository,
    checkout: {
      git: bind(repository.git, { gitDir: near.gitDir, top: near.top }),
      top: near.top,
      gitDir: near.gitDir,
    },
    head: opened.head,
  }
}

const checkoutOfBranch = async ({ git: place, head }: Repository): Promise<string | undefined> => {
  const answer = await git(place, ["worktree", "list", "--porcelain", "-z"])
  const found = answer.split("\0\0").find((entry) => entry.split("\0").includes(`branch ${head?.ref}`))
  return found?.split("\0")[0]?.replace(/^worktree /, "")
}

/** The checks of the newest run that worked there. Throws RUN_REFUTED, and CHECKS_UNKNOWN for a plan that is not ours. */
const checksOfWork = (
  { run, sharers }: RunWork,
  { space, state, world }: ApplyScene,
): ChecksPlan | undefined => {
  const told = sharers.findLast((sharer) => verdictOf(sharer) !== undefined)
  if (told !== undefined && verdictOf(told) === "refuted") throw new Failure("RUN_REFUTED", { run: told.id })
  const changed = told?.end?.changedCheckFiles ?? []
  if (told !== undefined && changed.length > 0)
    world.warn("CHECK_FILES_CHANGED", { run: told.id, files: changed.join(", ") })
  const newest = sharers.at(-1) ?? run
  const kept = readStoredPlan(space, newest.id, state, world)
  if (kept.tag === "plan") return kept.plan.checks
  if (newest.checks === undefined && newest.end?.verdict === undefined) return undefined
  throw new Failure("CHECKS_UNKNOWN", { run: newest.id, why: kept.why })
}

interface Landing {
  readonly work: RunWork
  readonly scene: ApplyScene
  readonly target: Target
  readonly snapshot: Snapshot
  /** The worktree. */
  readonly own: Checkout
  readonly checks: ChecksPlan | undefined
}

/** Undefined if the branch moved in between. */
const land = async (brought: Brought, landing: Landing): Promise<Applied | undefined> => {
  const { work, scene, target } = landing
  switch (brought.tag) {
    case "conflict":
      throw new Failure("APPLY_CONFLICT", {
        run: work.run.id,
        files: brought.paths.join(", "),
        with: await whoChanged(brought.paths, landing),
      })
    case "nothing":
      return await withRepositoryLock(scene.place.lock, scene.world, async () => {
        await settle(landing, { from: target.head.commit, commit: target.head.commit })
        return { ...told(landing, []), commit: undefined, commits: 0, checks: 0 }
      })
    case "brought": {
      const changes = await changesBetween(target.checkout.git, target.head.commit, brought.commit)
      await requireClean(target.checkout, changes)
      await requireGreen(landing, brought.commit)
      const isMoved = await withRepositoryLock(scene.place.lock, scene.world, () =>
        move(landing, { commit: brought.commit }),
      )
      if (!isMoved) return undefined
      return {
        ...told(landing, changes),
        commit: scene.isStaged ? undefined : brought.commit,
        commits: scene.isStaged ? 0 : brought.commits,
      }
    }
  }
}

/** The worktree has exactly the files to apply while the checks run. Throws CHECKS_RED. */
const requireGreen = async (landing: Landing, commit: string): Promise<void> => {
  const { work, scene, snapshot, own, checks } = landing
  if (checks === undefined) return
  const { space, state, world, place } = scene
  const { run, worktree } = work
  const held = await holdTree(own, {
    snapshot,
    commit,
    ref: heldRef(worktree.branch),
    place,
    run: run.id,
    uuid: world.uuid,
  })
  const results = await runChecks({
    run: run.id,
    space,
    plan: checks,
    cwd: run.cwd !== undefined && isInside(worktree.path, run.cwd) ? run.cwd : worktree.path,
    place: "apply",
    attempt: run.attempts.at(-1)?.number ?? 1,
    putBack: held.putBack,
    state,
    world,
    signal: world.signal,
  }).finally(() => held.release())
  world.signal.throwIfAborted()
  const red = results.find((result) => !isGreen(result))
  if (red === undefined) return
  const log = join(runPlace(space, run.id).directory, red.log)
  throw new Failure("CHECKS_RED", { run: run.id, what: endOf(red), log })
}

const told = ({ work, target, checks }: Landing, changes: readonly FileChange[]) => ({
  run: work.run.id,
  checks: checks?.commands.length ?? 0,
  files: changes.map(({ path }) => path),
  branch: target.head.ref?.replace("refs/heads/", ""),
})

const move = async (landing: Landing, { commit }: { readonly commit: string }): Promise<boolean> => {
  const { work, scene, target } = landing
  const { checkout, head } = target
  const written = {
    top: checkout.top,
    gitDir: checkout.gitDir,
    head: head.commit,
    commit,
    token: scene.world.uuid(),
    isStaged: scene.isStaged,
    spaces: scene.state.place.spaces,
    space: scene.space.id,
    run: work.run.id,
  }
  writeMove(scene.place, written)
  try {
    const moved = await moveCheckout(checkout, written, `meridian: apply ${scene.space.id} ${work.run.id}`)
    if (moved.tag === "elsewhere") return false
    await settle(landing, { from: head.commit, commit })
    return true
  } finally {
    forgetMove(scene.place)
  }
}

/** Staged work keeps its worktree, because nothing else has its commits yet. */
const settle = async (
  { work, scene, target }: Landing,
  range: { readonly from: string; readonly commit: string },
): Promise<void> => {
  const { isStaged, space, state, world } = scene
  const applied = { what: "applied" as const, ...range }
  await recordForAll(
    space,
    work,
    isStaged ? [{ ...applied, staged: true }] : [applied, { what: "removed" }],
    state,
  )
  if (!isStaged) await removeWork(work, target.repository, world)
}

/** Names the runs applied since this one began whose change conflicts with it, or else the commits since. */
const whoChanged = async (paths: readonly string[], landing: Landing): Promise<string> => {
  const { work, scene, target, snapshot } = landing
  const place = target.checkout.git
  const newer = new Set(
    (await git(place, ["rev-list", `${work.worktree.base}..${target.head.commit}`])).split("\n"),
  )
  const theirs = await commitTree(place, { tree: snapshot.tree, parent: snapshot.head, message: "meridian" })
  const conflictsAt = async (commit: string): Promise<readonly string[]> => {
    const merged = await mergeCommits(place, commit, theirs)
    return merged.tag === "conflict" ? merged.paths : []
  }
  const near: string[] = []
  const guilty: string[] = []
  for (const { id, worktree } of scene.others()) {
    if (worktree?.commit === undefined || worktree.from === undefined || !newer.has(worktree.commit)) continue
    const touched = await changesBetween(place, worktree.from, worktree.commit)
    if (!touched.some(({ path }) => paths.includes(path))) continue
    near.push(id)
    const before = new Set(await conflictsAt(worktree.from))
    if ((await conflictsAt(worktree.commit)).some((path) => !before.has(path))) guilty.push(id)
  }
  const names = guilty.length > 0 ? guilty : near
  return names.length === 0
    ? `what was committed to ${target.head.ref?.replace("refs/heads/", "") ?? "HEAD"} since it began`
    : names.map((id) => `run ${id}`).join(" and ")
}

const messageOf = ({ run }: RunWork, { space }: ApplyScene): string => {
  const line = taskOf(space, run) || `Work of run ${run.id}`
  const subject = line.length > LONGEST_SUBJECT ? `${line.slice(0, LONGEST_SUBJECT - 1)}…` : line
  return `${subject}\n\nMeridian-Run: ${space.id}/${run.id}\n`
}

const LONGEST_SUBJECT = 72
