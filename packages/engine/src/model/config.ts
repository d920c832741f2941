/** What a person writes to name a model, and the check that it can be opened at all. */
import { Failure, integer, number, objectOf, oneOf, reader, something, text } from "@meridian/protocol"

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

const isHttpAddress = (value: unknown): boolean => {
  const protocol = typeof value === "string" ? URL.parse(value)?.protocol : undefined
  return protocol === "http:" || protocol === "https:"
}

const TOKENS = integer(1, Number.MAX_SAFE_INTEGER)
const DOLLARS = number({ least: 0 })

const CONFIG = objectOf(
  {
    id: text({ least: 1 }),
    provider: oneOf(...PROVIDERS),
    contextWindow: TOKENS,
    maxOutput: TOKENS,
  },
  {
    baseURL: something<string>("an http or https address", isHttpAddress),
    price: objectOf({ input: DOLLARS, output: DOLLARS }, { cacheRead: DOLLARS, cacheWrite: DOLLARS }),
    effort: oneOf(...EFFORTS),
    idleMs: integer(1, Number.MAX_SAFE_INTEGER),
  },
)

/** Throws INVALID_INPUT for a model that could never answer: better when it is opened than in the first turn. */
export const checkModelConfig = (config: ModelConfig): void => {
  const fail = (problem: string): Failure =>
    new Failure("INVALID_INPUT", { what: `Model "${config.id}": ${problem}` })
  const read = reader(CONFIG, { what: "it", unknown: "keep", fail })
  const { provider, baseURL, contextWindow, maxOutput } = read(config)
  if (maxOutput > contextWindow) throw fail("`maxOutput` is beyond its `contextWindow`")
  if (provider === "openai-compatible" && baseURL === undefined) throw fail("`baseURL` is missing")
}
