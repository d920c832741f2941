/** Applies one run. Until the last step nothing that a user can see changes, and that step is taken back when it fails. */
import { Failure, type RunId } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"
import type { Run } from "../domain/run.ts"
import { bringOnto, type Brought } from "../repository/bring-onto.ts"
import { changesBetween, type FileChange } from "../repository/changes.ts"
import { findRepository } from "../repository/find-repository.ts"
import { git } from "../repository/git.ts"
import { requireCheckout } from "../repository/make-worktree.ts"
import { moveCheckout, requireClean } from "../repository/move-checkout.ts"
import { forgetMove, writeMove } from "../repository/move-journal.ts"
import { withRepositoryLock } from "../repository/repository-lock.ts"
import { bind, readHead, requireAtRest, type Head, type Repository } from "../repository/repository.ts"
import { takeSnapshot, type Checkout, type Snapshot } from "../repository/snapshot.ts"
import { startOf } from "../repository/work.ts"
import type { WorktreesPlace } from "../repository/worktree-place.ts"
import type { HeldLock } from "../store/lock.ts"
import type { SpacePlace } from "../store/place.ts"
import { openRepositoryHere } from "./repository-here.ts"
import { taskOf } from "./run-look.ts"
import { recordForAll, removeWork, type RunWork } from "./run-work.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

export interface ApplyScene {
  readonly space: SpacePlace
  readonly state: State
  readonly world: World
  readonly place: WorktreesPlace
  /** The lock of applying. */
  readonly lock: HeldLock
  readonly isStaged: boolean
  /** Runs that may have been applied before. */
  readonly others: () => readonly Run[]
}

export interface Applied {
  readonly run: RunId
  /** Undefined: there was nothing to bring, or it is only staged. */
  readonly commit: string | undefined
  readonly commits: number
  readonly files: readonly string[]
  /** Without `refs/heads/`; undefined when HEAD is detached. */
  readonly branch: string | undefined
}

/** Throws a coded failure, and then everything is as it was. */
export const applyRun = async (work: RunWork, scene: ApplyScene): Promise<Applied> => {
  const { run, worktree } = work
  const { world } = scene
  const target = await targetOf(work, scene)
  const own = requireCheckout(target.repository, worktree, run.id)
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
    const applied = await land(brought, { work, scene, target: { ...target, head }, snapshot })
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

/** The checkout that the run was spawned from; of a bare repository the one that has its branch. */
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

interface Landing {
  readonly work: RunWork
  readonly scene: ApplyScene
  readonly target: Target
  readonly snapshot: Snapshot
}

/** Undefined when the branch moved meanwhile. */
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
        return { ...told(landing, []), commit: undefined, commits: 0 }
      })
    case "brought": {
      const changes = await changesBetween(target.checkout.git, target.head.commit, brought.commit)
      await requireClean(target.checkout, changes)
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

const told = ({ work, target }: Landing, changes: readonly FileChange[]) => ({
  run: work.run.id,
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

/** What is only staged keeps its worktree: nothing else has its commits yet. */
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

/** Runs that were applied since this one began and touched the same files; else whoever committed. */
const whoChanged = async (paths: readonly string[], { work, scene, target }: Landing): Promise<string> => {
  const place = target.checkout.git
  const newer = new Set(
    (await git(place, ["rev-list", `${work.worktree.base}..${target.head.commit}`])).split("\n"),
  )
  const names: string[] = []
  for (const { id, worktree } of scene.others()) {
    if (worktree?.commit === undefined || worktree.from === undefined || !newer.has(worktree.commit)) continue
    const touched = await changesBetween(place, worktree.from, worktree.commit)
    if (touched.some(({ path }) => paths.includes(path))) names.push(id)
  }
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
