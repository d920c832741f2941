/** The models this command's engine can use now, and why it cannot use the others. */
import type { ModelConfig } from "@meridian/engine"
import {
  ECHO_MODEL,
  readConfig,
  REPORT_INSTRUCTION,
  resolveEngineModels,
  type EngineModel,
  type ModelsWorld,
} from "@meridian/spaces"

import { settingsOfRow } from "./settings-row.ts"

export interface EngineModels {
  /** At least one: without a thinking model, the one that echoes. */
  readonly models: readonly ModelConfig[]
  /** The model of a session that names none: `direct.model`, else the first usable. */
  readonly defaultModel?: string
  /** `provider/*` if a whole provider cannot be used. */
  readonly unusable: readonly { readonly id: string; readonly why: string }[]
}

/**
 * `wanted`: ids (`provider/model`) that must be included even if no catalogue lists them. Throws MODEL_NOT_USABLE
 * with what is missing if one of them cannot be used, and CONFIG_INVALID for a wrong table.
 */
export const loadEngineModels = async (
  world: ModelsWorld,
  options: { readonly wanted?: readonly string[] } = {},
): Promise<EngineModels> => {
  const { usable, unusable, defaultModel } = await resolveEngineModels(world, options)
  const idleMs = (await readConfig(world)).config["limits.idle_ms"]
  const echo = usable.length === 0 || defaultModel === ECHO_MODEL || options.wanted?.includes(ECHO_MODEL)
  return {
    models: [
      ...usable.map((model) =>
        modelConfig({ ...(idleMs === undefined ? {} : { idleMs }), ...model }, world.env),
      ),
      ...(echo === true ? [ECHO] : []),
    ],
    defaultModel,
    unusable: unusable.map(({ id, why }) => ({ id, why })),
  }
}

/** Keys are read here, at the last moment, and nowhere else. */
const modelConfig = (
  { id, model, connection, contextWindow, maxOutput, price, idleMs, hosted, variants }: EngineModel,
  env: ModelsWorld["env"],
): ModelConfig => {
  const { kind, address, key, headers } = connection
  // A line feed after a key was stored by mistake, and no header may contain one.
  const apiKey = (key.tag === "variable" ? env[key.name] : key.tag === "given" ? key.key : undefined)?.trim()
  return {
    id,
    provider: kind,
    model,
    contextWindow,
    maxOutput,
    ...(address === undefined ? {} : { baseURL: address }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(price === undefined ? {} : { price }),
    ...(idleMs === undefined ? {} : { idleMs }),
    ...(hosted === undefined ? {} : { hosted }),
    ...(variants === undefined ? {} : { variants: mapValues(variants, settingsOfRow) }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  }
}

const mapValues = <From, To>(
  from: Readonly<Record<string, From>>,
  change: (value: From) => To,
): Readonly<Record<string, To>> =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, change(value)]))

const ECHOED = 2_000

const ECHO: ModelConfig = {
  id: ECHO_MODEL,
  provider: "scripted",
  contextWindow: 100_000,
  maxOutput: 8_000,
  // Does not echo what a launcher put before the person's own words.
  script: ({ lastUser }) => ({
    text: `echo: ${lastUser.replace(REPORT_INSTRUCTION, "").trim().slice(0, ECHOED)}`,
  }),
}
