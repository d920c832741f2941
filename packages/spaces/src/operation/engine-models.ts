/** The models of the engine as this project and this user configured them. Touches files, never the network. */
import { Failure } from "@meridian/protocol"

import {
  findEngineModel,
  listEngineModels,
  namesOfModel,
  type EngineFacts,
  type EngineModel,
  type UnusableModels,
} from "../domain/engine-model.ts"
import { ECHO_MODEL } from "../domain/provider-preset.ts"
import { NO_TABLES } from "../domain/provider-table.ts"
import { loadLimits } from "../store/model-limits.ts"
import { readConfig } from "./config.ts"
import type { World } from "./world.ts"

export type ModelsWorld = Pick<World, "env" | "cwd" | "configPath" | "warn">

export interface ResolvedModels {
  /** Without the model that only echoes. */
  readonly usable: readonly EngineModel[]
  readonly unusable: readonly UnusableModels[]
  /** The model of a session that names none: the configured one, else the first usable, else the echo. */
  readonly defaultModel: string
}

/**
 * `wanted`: models that must be usable even if unlisted; their limits are then assumed. Throws MODEL_NOT_USABLE if
 * one of them, or `direct.model`, cannot be used.
 */
export const resolveEngineModels = async (
  world: ModelsWorld,
  { wanted = [] }: { readonly wanted?: readonly string[] } = {},
): Promise<ResolvedModels> => {
  const { facts, chosen } = await readEngineFacts(world)
  const { usable, unusable } = listEngineModels(facts)
  const extra = [chosen, ...wanted].flatMap((id) => {
    if (id === undefined || id === ECHO_MODEL || usable.some((model) => namesOfModel(model).includes(id)))
      return []
    const found = findEngineModel(id, facts)
    if (found.tag === "usable") return [found.model]
    throw new Failure("MODEL_NOT_USABLE", { model: id, why: found.why })
  })
  return { usable: [...usable, ...extra], unusable, defaultModel: chosen ?? usable[0]?.id ?? ECHO_MODEL }
}

/** The id that a name means: the id itself, or its part after the provider's name if only one model has that. */
export const engineModelId = (ids: readonly string[], name: string): string => {
  // Lists of models name them with their harness.
  const own = ids.includes(name) ? name : name.replace(/^direct\//, "")
  const short = ids.filter((id) => id.slice(id.indexOf("/") + 1) === own)
  const found = ids.includes(own) ? own : short.length === 1 ? short[0] : undefined
  if (found !== undefined) return found
  const shown = ids.slice(0, MOST_NAMED).join(", ")
  const more = ids.length - MOST_NAMED
  throw new Failure("MODEL_NOT_FOUND", { model: name, known: more > 0 ? `${shown} and ${more} more` : shown })
}

const MOST_NAMED = 10

/** Throws MODEL_NOT_USABLE or MODEL_NOT_FOUND for a model the engine could not use. */
export const requireEngineModel = async (name: string | undefined, world: ModelsWorld): Promise<void> => {
  const wanted = name?.includes("/") === true ? [name] : []
  const { usable } = await resolveEngineModels(world, { wanted })
  if (name === undefined || name === ECHO_MODEL) return
  engineModelId(usable.flatMap(namesOfModel), name)
}

export interface EngineWorld {
  readonly facts: EngineFacts
  /** `direct.model`, without the harness's name in front. */
  readonly chosen: string | undefined
}

export const readEngineFacts = async (world: ModelsWorld): Promise<EngineWorld> => {
  const [{ tables = NO_TABLES, config }, limits] = await Promise.all([
    readConfig(world),
    loadLimits(world.env),
  ])
  return {
    facts: { tables, env: world.env, limits: limits.models },
    chosen: config["direct.model"]?.replace(/^direct\//, ""),
  }
}
