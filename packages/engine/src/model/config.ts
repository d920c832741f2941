/** What a person writes to name a model, and the check that it can be opened at all. */
import { Failure } from "@meridian/protocol"

import type { ModelPrice } from "../port/model.ts"
import type { Respond, ScriptStep } from "./script.ts"

export const PROVIDERS = ["openai-compatible", "openai", "anthropic", "google", "scripted"] as const
export type ProviderName = (typeof PROVIDERS)[number]

export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const
export type Effort = (typeof EFFORTS)[number]

export interface ModelConfig {
  /** Our name for it, `provider/model`. */
  readonly id: string
  readonly provider: ProviderName
  /** Up to and with the version: `https://host/v1`. Needed for `openai-compatible`; the others know their own. */
  readonly baseURL?: string
  readonly apiKey?: string
  /** The provider's name for it; by default what stands behind the first `/` of the id. */
  readonly model?: string
  /** Tokens of prompt and answer together. */
  readonly contextWindow: number
  readonly maxOutput: number
  readonly price?: ModelPrice
  readonly headers?: Readonly<Record<string, string>>
  /** How long it thinks before it answers, where it can be told; by default as the provider decides. */
  readonly effort?: Effort
  /** A provider that is silent for this long counts as a broken connection; by default it may think for ever. */
  readonly idleMs?: number
  /** Only for `scripted`: what it answers. */
  readonly script?: readonly ScriptStep[] | Respond
}

/** The provider's name of a model. */
export const wireName = (config: ModelConfig): string =>
  config.model ?? config.id.slice(config.id.indexOf("/") + 1)

/** Throws INVALID_INPUT for a model that could never answer: better when it is opened than in the first turn. */
export const checkModelConfig = (config: ModelConfig): void => {
  const problem = findProblem(config)
  if (problem !== undefined) throw new Failure("INVALID_INPUT", { what: `Model "${config.id}" ${problem}` })
}

const findProblem = (config: ModelConfig): string | undefined => {
  if (typeof config.id !== "string" || config.id === "") return "needs an id"
  if (!PROVIDERS.includes(config.provider))
    return `has the provider "${config.provider}"; known are ${PROVIDERS.join(", ")}`
  if (!isCount(config.contextWindow)) return "needs a contextWindow: a whole number of tokens"
  if (!isCount(config.maxOutput)) return "needs a maxOutput: a whole number of tokens"
  if (config.maxOutput > config.contextWindow) return "has a maxOutput beyond its contextWindow"
  if (config.provider === "openai-compatible" && config.baseURL === undefined) return "needs a baseURL"
  if (config.baseURL !== undefined && !isHttpAddress(config.baseURL))
    return "has a baseURL that is no http or https address"
  if (config.idleMs !== undefined && !isCount(config.idleMs))
    return "has an idleMs that is no whole number of milliseconds"
  if (config.effort !== undefined && !EFFORTS.includes(config.effort))
    return `has the effort "${config.effort}"; known are ${EFFORTS.join(", ")}`
  const prices = Object.values(config.price ?? {})
  if (prices.some((price) => typeof price !== "number" || !(price >= 0)))
    return "has a price that is no number of dollars"
  return undefined
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0

const isHttpAddress = (text: string): boolean => {
  const protocol = URL.parse(text)?.protocol
  return protocol === "http:" || protocol === "https:"
}
