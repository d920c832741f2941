/**
 * Where a run works, decided when it begins and before git changes anything: in the checkout it was spawned in, or in
 * its own worktree.
 */
import { existsSync, realpathSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"

import { isInside } from "@meridian/continuity/files"
import { Failure, type RunId } from "@meridian/protocol"

import type { Config } from "../domain/config-option.ts"
import type { Run } from "../domain/run.ts"
import type { PermissionTier } from "../domain/tier.ts"
import { branchOf, type RunWorktree } from "../domain/worktree.ts"
import { findRepository } from "../repository/find-repository.ts"
import { callGit } from "../repository/git.ts"
import type { Repository } from "../repository/repository.ts"
import { allWorktrees, worktreesPlace } from "../repository/worktree-place.ts"
import { announceWriter, type Announced, type Writer } from "../repository/writers.ts"
import { openRepositoryHere, requireSite, type Site } from "./repository-here.ts"
import type { Isolation, RunPlan } from "./run-plan.ts"
import { ownMark, type State } from "./state.ts"
import type { World } from "./world.ts"

export interface RunPlaceChoice {
  /** The plan once the run has an id, with its worktree and the folder in it. */
  readonly planFor: (id: RunId) => RunPlan
  /** Other runs that write into the same checkout. */
  readonly besides: readonly string[]
  /** Undefined for a run that does not write into the user's checkout. */
  readonly writer: Announced | undefined
}

/** The requested isolation, or the configured one for a run that writes. */
export const isolationOf = (
  wish: { readonly worktree: boolean; readonly withChanges: boolean },
  { config, permission }: { readonly config: Config; readonly permission: PermissionTier | undefined },
): Isolation | undefined => {
  const configured = (permission ?? "read-only") === "read-only" ? "never" : config["runs.worktree"]
  const how = wish.worktree || wish.withChanges ? "always" : configured
  return how === "never"
    ? undefined
    : {
        wish: how,
        withChanges: wish.withChanges,
        setup: config["worktree.setup"],
        keepVariables: config["tools.keep_variables"],
      }
}

/** Throws if a requested worktree is impossible. */
export const choosePlace = async (plan: RunPlan, state: State, world: World): Promise<RunPlaceChoice> => {
  const { isolation } = plan
  const stays = (writer: Announced | undefined): RunPlaceChoice => ({
    planFor: () => plan,
    besides: (writer?.others ?? []).map((other) => nameOf(other, state)),
    writer,
  })
  if (plan.worktree !== undefined) return stays(undefined)
  if (isolation?.wish === "always") return isolate(plan, await siteFor(plan.cwd, state, world), world)
  const writer = announce(plan, state, world)
  if (isolation?.wish !== "auto" || writer === undefined || writer.others.length === 0) {
    if (writer !== undefined && writer.others.length > 0)
      world.warn("CHECKOUT_SHARED", {
        checkout: writer.top,
        others: writer.others.map((other) => nameOf(other, state)).join(", "),
      })
    return stays(writer)
  }
  writer.close()
  return isolate(plan, await siteFor(plan.cwd, state, world), world)
}

/** Also used when another worker resumes the run. Undefined for a run that does not write, or not in a repository. */
export const announce = (
  plan: RunPlan,
  state: State,
  world: Pick<World, "env" | "uuid">,
  run?: RunId,
): (Announced & { readonly top: string }) | undefined => {
  if (plan.worktree !== undefined || (plan.launch.permission ?? "read-only") === "read-only") return undefined
  const found = findRepository(plan.cwd)
  if (found === undefined || allWorktrees(world.env) === undefined) return undefined
  const writer = {
    top: found.top,
    name: run === undefined ? `a run of ${plan.space}` : `${plan.space} ${run}`,
    project: state.place.project,
    holder: ownMark(),
  }
  const announced = announceWriter(worktreesPlace(world.env, found.commonDir), writer, world.uuid)
  return { ...announced, top: found.top }
}

/** For a run of another project, the name includes that project. */
const nameOf = ({ name, project }: Writer, { place }: Pick<State, "place">): string =>
  project === place.project ? name : `${name} of ${basename(project)}`

/** Throws for everything that can be known before the run begins. */
export const siteFor = async (cwd: string, state: State, world: Pick<World, "env">): Promise<Site> => {
  const site = await requireSite(cwd, state.place, world)
  worktreesPlace(world.env, site.commonDir)
  const folder = folderIn(site, cwd)
  if (folder !== "") {
    const { code } = await callGit(site.git, [
      "rev-parse",
      "--quiet",
      "--verify",
      `${site.head.commit}:${folder}`,
    ])
    if (code !== 0) throw new Failure("WORKTREE_FOLDER_ABSENT", { folder: cwd })
  }
  return site
}

/** The folder of the run, relative to the top of the checkout. */
const folderIn = (site: Site, cwd: string): string =>
  site.isBare ? "" : relative(site.top, realpathSync.native(cwd))

const isolate = (plan: RunPlan, site: Site, world: World): RunPlaceChoice => {
  const place = worktreesPlace(world.env, site.commonDir)
  const folder = folderIn(site, plan.cwd)
  return {
    planFor: (id) => {
      const worktree: RunWorktree = {
        path: join(place.directory, `${plan.space}-${id}`),
        branch: branchOf(plan.space, id),
        base: site.head.commit,
        checkout: site.isBare ? "" : site.top,
        repository: site.commonDir,
        ...(plan.isolation?.withChanges === true ? { withChanges: true } : {}),
      }
      return { ...plan, worktree, cwd: join(worktree.path, folder) }
    },
    besides: [],
    writer: undefined,
  }
}

/** A continuation works where the run worked. Throws WORKTREE_GONE if that place is gone. */
export const continuedWorktree = (
  { id, worktree }: Run,
  cwd: string,
  { env }: Pick<World, "env">,
): RunWorktree | undefined => {
  if (worktree === undefined) return undefined
  const { path, branch, base, checkout, repository, state } = worktree
  const isOurs = worktreesPlace(env, repository).directory === dirname(path) && isInside(path, cwd)
  if (isOurs && state !== "applied" && state !== "discarded" && existsSync(path))
    return { path, branch, base, checkout, repository }
  throw new Failure("WORKTREE_GONE", {
    run: id,
    why: state === "open" ? `nothing of ours is at ${path}` : `it was ${state}`,
    next: "spawn a new run, and name in its prompt what to continue.",
  })
}

/** The repository of a worktree, opened through the checkout it was taken from while that exists. Throws WORKTREE_GONE. */
export const repositoryOf = (
  { repository, checkout }: RunWorktree,
  run: RunId,
  state: State,
  world: Pick<World, "env">,
): Promise<Repository> => {
  const near = checkout === "" ? undefined : findRepository(checkout)
  if (near?.commonDir === repository) return openRepositoryHere(near, state.place, world)
  if (existsSync(join(repository, "HEAD")))
    return openRepositoryHere(
      { top: repository, gitDir: repository, commonDir: repository },
      state.place,
      world,
    )
  throw new Failure("WORKTREE_GONE", {
    run,
    why: `its repository ${repository} no longer exists`,
    next: "put the repository back where it was.",
  })
}
