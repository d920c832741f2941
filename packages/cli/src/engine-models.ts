/** The models an engine of this command can use now: those whose key is set, and without any a model that only echoes. */
import type { ModelConfig } from "@meridian/engine"

type Environment = Readonly<Record<string, string | undefined>>

export const engineModels = (env: Environment): readonly ModelConfig[] => {
  const usable = HOSTED.flatMap(({ keyName, baseName, config }) => {
    const apiKey = env[keyName] ?? ""
    const baseURL = env[baseName] ?? ""
    return apiKey === "" ? [] : [{ ...config, apiKey, ...(baseURL === "" ? {} : { baseURL }) }]
  })
  return usable.length === 0 ? [ECHO] : usable
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
