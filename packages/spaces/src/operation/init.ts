/** What `meridian init` does in a folder: creates the configuration file, once, and records the user's trust. */
import { mkdir } from "node:fs/promises"

import { configTemplate } from "../domain/config-template.ts"
import type { FileTier } from "../domain/tier.ts"
import { configPath, createConfigFile } from "../store/config-file.ts"
import { openPlace } from "../store/place.ts"
import { trustFile } from "../store/user-place.ts"
import { folderOf } from "./folder-trust.ts"
import { surveyFolder } from "./survey-folder.ts"
import { claimDocument, defaultTier, trustFolder } from "./trust.ts"
import type { World } from "./world.ts"

/** `created` is false if the file already existed: it is never overwritten. */
export const initConfig = async (
  world: Pick<World, "env" | "cwd">,
): Promise<{ readonly path: string; readonly created: boolean }> => {
  const { root } = openPlace(world.env, world.cwd)
  const path = configPath(root)
  await mkdir(root, { recursive: true })
  return { path, created: await createConfigFile(path, configTemplate()) }
}

/**
 * A person who sets a folder up trusts it as it is now. Undefined if that adds nothing: the folder decides nothing
 * and no tier was named. An agent trusts nothing, and a user without a home has no place to record it.
 */
export const trustHere = async (world: World, asked: FileTier | undefined) => {
  if (world.mode === "agent" || trustFile(world.env) === undefined) return undefined
  const survey = await surveyFolder(world)
  const tier = asked ?? survey.entry?.tier ?? defaultTier(survey)
  await trustFolder(survey, { tier, world })
  return survey.claims.length === 0 && asked === undefined
    ? undefined
    : { path: folderOf(survey.place).path, tier, decides: survey.claims.map(claimDocument) }
}
