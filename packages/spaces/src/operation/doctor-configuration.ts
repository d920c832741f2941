/** Whether the files people write by hand can be read. The rest of a checkup does not depend on it. */
import { Failure } from "@meridian/protocol"

import type { Config } from "../domain/config-option.ts"
import { loadCatalogue } from "../store/catalogue.ts"
import type { LoadedConfig } from "../store/config-file.ts"
import { openPlace } from "../store/place.ts"
import { readConfig } from "./config.ts"
import type { World } from "./world.ts"

export interface Configuration {
  /** Undefined if it cannot be read. */
  readonly config: Config | undefined
  readonly acpAgents: LoadedConfig["acpAgents"] | undefined
  readonly problems: readonly string[]
}

export const checkConfiguration = async (world: World): Promise<Configuration> => {
  const problems: string[] = []
  const tried = async <A>(reading: Promise<A>): Promise<A | undefined> => {
    try {
      return await reading
    } catch (error) {
      problems.push(reasonOf(error))
      return undefined
    }
  }
  const loaded = await tried(readConfig(world))
  await tried(loadCatalogue(openPlace(world.env, world.cwd).root, world.env))
  return { config: loaded?.config, acpAgents: loaded?.acpAgents, problems }
}

/** A problem that a person can fix is part of the report. Rethrows a bug. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof Failure) return `${error.message} Next: ${error.next}`
  if (error instanceof Error && "syscall" in error) return error.message
  throw error
}
