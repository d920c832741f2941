/**
 * Everything the files of a folder would decide for the person who works in it: what the trust question shows. Reads only.
 */
import type { Claim } from "../domain/claim.ts"
import type { TrustEntry } from "../domain/trust.ts"
import { loadConfig, type LoadedConfig } from "../store/config-file.ts"
import { openPlace, type Place } from "../store/place.ts"
import { trustOf } from "./folder-trust.ts"
import type { World } from "./world.ts"

export interface Survey {
  readonly place: Place
  readonly entry: TrustEntry | undefined
  readonly loaded: LoadedConfig
  /** All of it, trusted or not. */
  readonly claims: readonly Claim[]
  /** What does not count now and would if the folder were trusted. */
  readonly open: readonly Claim[]
}

export type SurveyWorld = Pick<World, "env" | "cwd" | "configPath">

export const surveyFolder = async (world: SurveyWorld): Promise<Survey> => {
  const place = openPlace(world.env, world.cwd)
  const entry = trustOf(place, world.env)
  const loaded = await loadConfig({ ...world, root: place.root, trust: entry })
  return {
    place,
    entry,
    loaded,
    claims: loaded.claims,
    open: loaded.ignored.filter(({ why }) => why !== "tier").map(({ claim }) => claim),
  }
}
