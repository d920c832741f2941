/** The configuration file of `meridian init`, once. */
import { mkdir } from "node:fs/promises"

import { configTemplate } from "../domain/config-template.ts"
import { configPath, createConfigFile } from "../store/config-file.ts"
import { openPlace } from "../store/place.ts"
import type { World } from "./world.ts"

/** `created` is false when the file was there: it is never overwritten. */
export const initConfig = async (
  world: Pick<World, "env" | "cwd">,
): Promise<{ readonly path: string; readonly created: boolean }> => {
  const { root } = openPlace(world.env, world.cwd)
  const path = configPath(root)
  await mkdir(root, { recursive: true })
  return { path, created: await createConfigFile(path, configTemplate()) }
}
