/** The repository of a folder. The programs it names run only if this user trusts it with them. */
import { Failure } from "@meridian/protocol"

import type { Claim } from "../domain/claim.ts"
import { isCovered } from "../domain/trust.ts"
import { findRepository, type RepositoryPlace } from "../repository/find-repository.ts"
import { openRepository, requireAtRest, type Head, type Repository } from "../repository/repository.ts"
import type { StatePlace } from "../store/place.ts"
import { trustOf } from "./folder-trust.ts"
import type { World } from "./world.ts"

export const openRepositoryHere = (
  found: RepositoryPlace,
  place: Pick<StatePlace, "project">,
  { env }: Pick<World, "env">,
): Promise<Repository> => {
  const entry = trustOf(place, env)
  return openRepository(found, { env, trusts: (key, value) => isCovered(gitClaim(key, value), entry) })
}

/** The programs that a repository's own configuration would have git start. */
export const gitClaims = async (
  { project }: Pick<StatePlace, "project">,
  { env }: Pick<World, "env">,
): Promise<readonly Claim[]> => {
  try {
    const found = findRepository(project)
    if (found === undefined) return []
    const { configuration } = await openRepository(found, { env, trusts: () => false })
    return [...configuration.programs].map(([key, value]) => gitClaim(key, value))
  } catch (error) {
    // Without git it starts nothing.
    if (error instanceof Failure) return []
    throw error
  }
}

const gitClaim = (key: string, value: string): Claim => ({
  kind: "program",
  key: `git ${key}`,
  value: JSON.stringify(value),
  shown: value,
  where: ".git/config",
})

export interface Site extends Repository {
  readonly head: Head
}

/** A checkout that a worktree can be taken from or applied to. Throws a coded failure for everything else. */
export const requireSite = async (
  from: string,
  place: Pick<StatePlace, "project">,
  world: Pick<World, "env">,
): Promise<Site> => {
  const found = findRepository(from)
  if (found === undefined) throw new Failure("REPOSITORY_NOT_FOUND", { directory: from })
  const repository = await openRepositoryHere(found, place, world)
  const { head } = repository
  if (head === undefined) throw new Failure("REPOSITORY_EMPTY", { repository: found.top })
  requireAtRest(found)
  return { ...repository, head }
}
