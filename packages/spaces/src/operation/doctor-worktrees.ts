/**
 * Cleans up what killed runs and commands leave of worktrees: a cut-off apply, worktrees without a record, locks,
 * branches. A worktree with work that is nowhere else is removed only on request, and a ref then keeps the work. The
 * worktree of a run that is working, waiting or resumable stays as it is.
 */
import { existsSync, lstatSync, rmSync } from "node:fs"
import { basename, join } from "node:path"

import { Failure } from "@meridian/protocol"

import { isEnded, type Run } from "../domain/run.ts"
import { keptRef } from "../domain/worktree.ts"
import { findRepository } from "../repository/find-repository.ts"
import { callGit, git } from "../repository/git.ts"
import { forgetGone, hasOwnCommits, readOwner, removeOwnFiles } from "../repository/leftovers.ts"
import { checkoutOf, dropWorktree, trashOf } from "../repository/make-worktree.ts"
import { commitTree } from "../repository/merge.ts"
import type { Repository } from "../repository/repository.ts"
import { takeSnapshot, type Checkout } from "../repository/snapshot.ts"
import { allWorktrees, namesIn, worktreesPlace, type WorktreesPlace } from "../repository/worktree-place.ts"
import { acquireLock, type HeldLock } from "../store/lock.ts"
import { spacePlace, type SpacePlace } from "../store/place.ts"
import { leftWorking } from "../store/run-liveness.ts"
import { readRuns, recordWorktrees } from "../store/run-store.ts"
import { listSpaces } from "../store/space-store.ts"
import { recoverApply } from "./recover-apply.ts"
import { openRepositoryHere } from "./repository-here.ts"
import { emptyTrash } from "./run-work.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

export interface WorktreeFinding {
  readonly id: "interrupted_apply" | "worktree_leftovers" | "unclaimed_worktrees"
  readonly space_id: string
  readonly what: string
  readonly repaired: boolean
}

type DoctorWorld = Pick<World, "env" | "uuid" | "clock" | "confirm">

/** Returns nothing if there is no repository of ours, or if a process is working on it right now. */
export const checkWorktrees = async (
  state: State,
  world: DoctorWorld,
): Promise<readonly WorktreeFinding[]> => {
  const found = findRepository(state.place.project)
  if (found === undefined || allWorktrees(world.env) === undefined) return []
  const place = worktreesPlace(world.env, found.commonDir)
  if (!existsSync(place.directory)) return []
  const applying = await acquireLock(place.applyLock, { waitMs: 0 })
  if (applying === undefined) return []
  try {
    const making = await acquireLock(place.lock, { waitMs: 0 })
    if (making === undefined) return []
    try {
      const opened = await openRepositoryHere(found, state.place, world)
      const repository = { ...opened, git: { ...opened.git, lock: applying } }
      return [
        ...(await cutOff(repository, { place, lock: applying, state, world })),
        ...(await leftovers({ repository, place, state, world })),
      ]
    } finally {
      making.release()
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return [told("worktree_leftovers", "-", `they could not be looked at: ${error.message}`, false)]
  } finally {
    applying.release()
  }
}

const told = (
  id: WorktreeFinding["id"],
  space: string,
  what: string,
  repaired: boolean,
): WorktreeFinding => ({ id, space_id: space, what, repaired })

const cutOff = async (
  repository: Repository,
  about: Omit<Scene, "repository"> & { readonly lock: HeldLock },
): Promise<readonly WorktreeFinding[]> => {
  const { place, lock, state, world } = about
  const recovered = await recoverApply(repository, { place, lock, state, token: world.uuid() })
  if (recovered === undefined) return []
  const { move, outcome } = recovered
  const words = {
    finished: "finished",
    "taken-back": "taken back",
    left: "left, because the checkout has changed since",
  }
  return [
    told("interrupted_apply", move.space, `applying ${move.run} was cut off; it was ${words[outcome]}`, true),
  ]
}

interface Scene {
  readonly repository: Repository
  readonly place: WorktreesPlace
  readonly state: State
  readonly world: DoctorWorld
}

interface Claim {
  readonly space: SpacePlace
  readonly run: Run
}

const leftovers = async (scene: Scene): Promise<readonly WorktreeFinding[]> => {
  const { repository, place, state, world } = scene
  const claims = claimsIn(state)
  const findings: WorktreeFinding[] = []
  for (const name of namesIn(place.directory).filter((entry) => WORKTREE.test(entry))) {
    const path = join(place.directory, name)
    const own = claims.get(path) ?? []
    findings.push(...(own.length === 0 ? await strange(path, scene) : await known(path, own, scene)))
  }
  const gone = forgetGone(repository.commonDir, place)
  if (gone > 0)
    findings.push(told("worktree_leftovers", "-", `git knew ${gone} worktrees that are gone`, true))
  findings.push(...(await oldBranches(claims, scene)))
  const files = removeOwnFiles(repository, world.clock.now())
  if (files.length > 0)
    findings.push(
      told("worktree_leftovers", "-", `${files.map((file) => basename(file)).join(", ")} removed`, true),
    )
  emptyTrash(trashOf(place))
  return findings
}

const WORKTREE = /^s\d+-r\d+$/

/** Every run of this project that has, or had, a worktree, by the worktree's path. */
const claimsIn = (state: State): ReadonlyMap<string, readonly Claim[]> => {
  const claims = new Map<string, Claim[]>()
  for (const found of listSpaces(state.place)) {
    if (found.tag === "damaged") continue
    const space = spacePlace(state.place, found.space.id)
    for (const run of readRuns(space, () => undefined)) {
      if (run.worktree === undefined) continue
      const { path } = run.worktree
      claims.set(path, [...(claims.get(path) ?? []), { space, run }])
    }
  }
  return claims
}

const known = async (
  path: string,
  claims: readonly Claim[],
  scene: Scene,
): Promise<readonly WorktreeFinding[]> => {
  const { repository, state } = scene
  const [first] = claims
  const worktree = first?.run.worktree
  if (first === undefined || worktree === undefined) return []
  if (claims.some(({ run, space }) => !isEnded(run) || leftWorking(space, run) !== undefined)) return []
  const { space } = first
  // It was recorded as removed, but the files were never deleted.
  if (claims.every(({ run }) => run.worktree?.isRemoved === true)) {
    drop(path, scene)
    return [told("worktree_leftovers", space.id, `${path} was removed`, true)]
  }
  const checkout = checkoutOf(repository, worktree)
  if (checkout === undefined) return []
  const findings = await unlock(checkout, space.id)
  const isOpen = claims.every(({ run }) => run.worktree?.state === "open" && run.status !== "succeeded")
  if (!isOpen || (await holdsWork(checkout, worktree.branch, scene))) return findings
  drop(path, scene)
  await deleteBranch(worktree.branch, scene)
  for (const { run, space: its } of claims)
    await recordWorktrees(its, [{ event: "worktree", id: run.id, at: state.now(), what: "removed" }])
  const runs = claims.map(({ run }) => run.id).join(", ")
  return [
    ...findings,
    told("worktree_leftovers", space.id, `${path} of ${runs} held no work and was removed`, true),
  ]
}

/** No process works there any more, so the lock's holder was killed. */
const unlock = async ({ gitDir }: Checkout, space: string): Promise<readonly WorktreeFinding[]> => {
  const lock = join(gitDir, "index.lock")
  if (lstatSync(lock, { throwIfNoEntry: false }) === undefined) return []
  rmSync(lock, { force: true })
  return [told("worktree_leftovers", space, `${lock} was left by a killed run`, true)]
}

/** A worktree that belongs to no run of this project: it belongs to another project, or the records are gone. */
const strange = async (path: string, scene: Scene): Promise<readonly WorktreeFinding[]> => {
  const { repository, state, world } = scene
  const branch = `meridian/${basename(path)}`
  const checkout = checkoutOf(repository, { path })
  if (checkout === undefined) {
    if (namesIn(path).length > 0)
      return [told("unclaimed_worktrees", "-", `${path} is no worktree of this repository`, false)]
    rmSync(path, { recursive: true, force: true })
    return [told("worktree_leftovers", "-", `${path} was empty and was removed`, true)]
  }
  const owner = readOwner(checkout.gitDir)
  if (owner !== undefined && owner !== state.place.spaces && existsSync(owner)) return []
  const holds = await holdsWork(checkout, branch, scene)
  const question = `${path} no longer belongs to a run and holds work that is nowhere else. Throw it away?`
  // A worktree without an owner may be in use by another project.
  if ((holds || owner === undefined) && !(await world.confirm(question)))
    return [
      told(
        "unclaimed_worktrees",
        "-",
        `${path} belongs to no run of this project; --yes throws it away`,
        false,
      ),
    ]
  const kept = holds ? await keep(checkout, branch, scene) : undefined
  drop(path, scene)
  await deleteBranch(branch, scene)
  return [
    told(
      "worktree_leftovers",
      "-",
      `${path} belonged to no run and was removed${kept === undefined ? "" : `; ${kept} still has its work`}`,
      true,
    ),
  ]
}

/**
 * Files that are in no commit, or commits that only its own branch has. A worktree that cannot be read counts as
 * holding work.
 */
const holdsWork = async (
  checkout: Checkout,
  branch: string,
  { repository, world }: Scene,
): Promise<boolean> => {
  try {
    const snapshot = await takeSnapshot(checkout, { run: basename(checkout.top), token: world.uuid() })
    return !snapshot.isClean || (await hasOwnCommits(repository, { tip: snapshot.head, branch }))
  } catch (error) {
    if (error instanceof Failure) return true
    throw error
  }
}

const keep = async (checkout: Checkout, branch: string, { repository, world }: Scene): Promise<string> => {
  const snapshot = await takeSnapshot(checkout, { run: basename(checkout.top), token: world.uuid() })
  const tip = snapshot.isClean
    ? snapshot.head
    : await commitTree(repository.git, {
        tree: snapshot.tree,
        parent: snapshot.head,
        message: `Work of ${basename(checkout.top)}, removed by doctor`,
      })
  await git(repository.git, ["update-ref", keptRef(branch), tip])
  return keptRef(branch)
}

const drop = (path: string, { repository, place, world }: Scene): void =>
  dropWorktree({ path, commonDir: repository.commonDir, place, uuid: world.uuid })

const deleteBranch = async (branch: string, { repository }: Pick<Scene, "repository">): Promise<void> => {
  await callGit(repository.git, ["update-ref", "-d", `refs/heads/${branch}`])
}

/** Branches of applied or discarded runs, if everything on them exists elsewhere. */
const oldBranches = async (
  claims: ReadonlyMap<string, readonly Claim[]>,
  scene: Scene,
): Promise<readonly WorktreeFinding[]> => {
  const { repository } = scene
  const findings: WorktreeFinding[] = []
  for (const [path, [claim]] of claims) {
    const worktree = claim?.run.worktree
    if (claim === undefined || worktree?.isRemoved !== true || existsSync(path)) continue
    const { branch } = worktree
    const { code, stdout } = await callGit(repository.git, [
      "rev-parse",
      "--quiet",
      "--verify",
      `refs/heads/${branch}`,
    ])
    if (code !== 0 || !(await isTaken(stdout.toString("utf8").trim(), branch, repository))) continue
    await deleteBranch(branch, scene)
    findings.push(told("worktree_leftovers", claim.space.id, `the branch ${branch} was removed`, true))
  }
  return findings
}

/** Its commits, or the same changes, are on the user's branch. */
const isTaken = async (tip: string, branch: string, repository: Repository): Promise<boolean> => {
  if (!(await hasOwnCommits(repository, { tip, branch }))) return true
  const range = `HEAD...${tip}`
  const { code, stdout } = await callGit(repository.git, [
    "rev-list",
    "--cherry-pick",
    "--right-only",
    "--no-merges",
    range,
  ])
  return code === 0 && stdout.length === 0
}
