/** A repository opened for our own calls of git, bound to one checkout of it. */
import { existsSync } from "node:fs"
import { join } from "node:path"

import {
  Failure,
  CONFIGURATION_QUERY,
  driverOf,
  ownGitEnvironment,
  ownGitSettings,
  readConfiguration,
  type GitConfiguration,
} from "@meridian/protocol"

import type { RepositoryPlace } from "./find-repository.ts"
import { callGit, gitFailed, type GitPlace } from "./git.ts"

export interface Repository extends RepositoryPlace {
  readonly git: GitPlace
  readonly configuration: GitConfiguration
  /** Drivers of the repository that are switched off, because the user has not trusted them. */
  readonly strange: readonly string[]
  /** It has no checkout here. */
  readonly isBare: boolean
  readonly hasSubmodules: boolean
  readonly head: Head | undefined
}

export interface Head {
  readonly commit: string
  readonly tree: string
  /** `refs/heads/main`, or undefined if detached. */
  readonly ref: string | undefined
}

export interface RepositoryWish {
  readonly env: GitPlace["env"]
  /** Whether the user trusts the repository with this program. */
  readonly trusts: (key: string, value: string) => boolean
}

/** Throws GIT_MISSING, and GIT_FAILED if git refuses to look. */
export const openRepository = async (
  place: RepositoryPlace,
  { env, trusts }: RepositoryWish,
): Promise<Repository> => {
  const first: GitPlace = {
    cwd: place.top,
    env: ownGitEnvironment(env, { hasIdentity: true }),
    settings: ownGitSettings([]),
  }
  const [answer, head] = await Promise.all([callGit(first, CONFIGURATION_QUERY), readHead(first)])
  if (answer.code !== 0) throw gitFailed(CONFIGURATION_QUERY, answer)
  const configuration = readConfiguration(answer.stdout.toString("utf8"))
  const isBare = configuration.isBare && place.gitDir === place.commonDir
  const strange = strangeDrivers(configuration, trusts)
  return {
    ...place,
    configuration,
    strange,
    isBare,
    hasSubmodules: existsSync(join(place.top, ".gitmodules")),
    head,
    git: bind(
      { ...first, env: ownGitEnvironment(env, configuration), settings: ownGitSettings(strange) },
      { gitDir: place.gitDir, top: isBare ? undefined : place.top },
    ),
  }
}

/**
 * The same git for another checkout. Both folders are passed, so that no file in either can lead git elsewhere
 * (`core.worktree`, a rewritten `.git`).
 */
export const bind = (
  place: GitPlace,
  { gitDir, top }: { readonly gitDir: string; readonly top: string | undefined },
): GitPlace => ({
  ...place,
  cwd: top ?? gitDir,
  env: { ...place.env, GIT_DIR: gitDir, GIT_WORK_TREE: top },
})

/** Undefined if there is no commit yet. */
export const readHead = async (place: GitPlace): Promise<Head | undefined> => {
  const { code, stdout } = await callGit(place, [
    "rev-parse",
    "HEAD^{commit}",
    "HEAD^{tree}",
    "--symbolic-full-name",
    "HEAD",
  ])
  const [commit, tree, ref] = stdout.toString("utf8").split("\n")
  if (code !== 0 || commit === undefined || tree === undefined) return undefined
  return { commit, tree, ref: ref === "HEAD" || ref === "" ? undefined : ref }
}

/** Throws REPOSITORY_BUSY in the middle of something the user has to finish first. */
export const requireAtRest = ({ gitDir, top }: RepositoryPlace): void => {
  const found = UNDER_WAY.find(([file]) => existsSync(join(gitDir, file)))
  if (found !== undefined) throw new Failure("REPOSITORY_BUSY", { checkout: top, what: found[1] })
}

const UNDER_WAY = [
  ["MERGE_HEAD", "merge"],
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
] as const

const strangeDrivers = (
  { programs }: GitConfiguration,
  trusts: RepositoryWish["trusts"],
): readonly string[] => {
  const strange = [...programs].flatMap(([key, value]) => (trusts(key, value) ? [] : (driverOf(key) ?? [])))
  return [...new Set(strange)]
}
