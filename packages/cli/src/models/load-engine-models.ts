/** The models an engine of this command can use now, and why it cannot use the others. */
import type { ModelConfig } from "@meridian/engine"
import type { World } from "@meridian/spaces"

export interface EngineModels {
  /** At least one: without any that can think, the one that echoes. */
  readonly models: readonly ModelConfig[]
  /** The model of a session that names none. */
  readonly defaultModel?: string
  readonly unusable: readonly { readonly id: string; readonly why: string }[]
}

export const loadEngineModels = async (
  world: Pick<World, "env" | "cwd" | "configPath" | "warn">,
): Promise<EngineModels> => {
  const models = HOSTED.flatMap(({ keyName, baseName, config }): readonly ModelConfig[] => {
    const apiKey = world.env[keyName] ?? ""
    const baseURL = world.env[baseName] ?? ""
    return apiKey === "" ? [] : [{ ...config, apiKey, ...(baseURL === "" ? {} : { baseURL }) }]
  })
  const unusable = HOSTED.filter(({ keyName }) => (world.env[keyName] ?? "") === "")
  return {
    models: models.length === 0 ? [ECHO] : models,
    defaultModel: models[0]?.id ?? ECHO.id,
    unusable: unusable.map(({ config, keyName }) => ({ id: config.id, why: `set ${keyName}` })),
  }
}

const ANTHROPIC = { keyName: "ANTHROPIC_API_KEY", baseName: "ANTHROPIC_BASE_URL" } as const
const OPENAI = { keyName: "OPENAI_API_KEY", baseName: "OPENAI_BASE_URL" } as const

const anthropic = (model: string): ModelConfig => ({
  id: `anthropic/${model}`,
  provider: "anthropic",
  contextWindow: 200_000,
  maxOutput: 32_000,
})

const openai = (model: string): ModelConfig => ({
  id: `openai/${model}`,
  provider: "openai",
  contextWindow: 400_000,
  maxOutput: 64_000,
})

const HOSTED = [
  { ...ANTHROPIC, config: anthropic("claude-sonnet-4-6") },
  { ...ANTHROPIC, config: anthropic("claude-opus-4-6") },
  { ...ANTHROPIC, config: anthropic("claude-haiku-4-5") },
  { ...OPENAI, config: openai("gpt-5.3-codex") },
  { ...OPENAI, config: openai("gpt-5.2") },
] as const

/** Needs no key and says what it was told, so that everything but the thinking can be tried. */
const ECHO: ModelConfig = {
  id: "meridian/echo",
  provider: "scripted",
  contextWindow: 100_000,
  maxOutput: 8_000,
  script: [],
}
