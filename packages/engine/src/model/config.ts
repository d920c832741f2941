/** How a person configures a model, and the check that it can be opened at all. */
import {
  EFFORTS,
  Failure,
  integer,
  isJsonObject,
  listOf,
  mapOf,
  number,
  objectOf,
  oneOf,
  reader,
  REQUEST_SETTINGS,
  something,
  STRING,
  text,
  type ModelEffort,
  type RequestSettings,
} from "@meridian/protocol"

import { LIMITS } from "../domain/limits.ts"
import { checkSettings } from "../domain/request-settings.ts"
import type { ModelPrice } from "../port/model.ts"
import { HOSTED_TOOLS, hostedProblem, type HostedTool } from "./hosted-tools.ts"
import type { Respond, ScriptStep } from "./script.ts"

export const PROVIDERS = ["openai-compatible", "openai", "anthropic", "google", "scripted"] as const
export type ProviderName = (typeof PROVIDERS)[number]

export type Effort = ModelEffort

export interface ModelConfig {
  /** Our name for the model, `provider/model`. */
  readonly id: string
  readonly provider: ProviderName
  /** Including the version: `https://host/v1`. Required for `openai-compatible`; the other providers have a default. */
  readonly baseURL?: string
  readonly apiKey?: string
  /** The provider's name for the model. Default: the part of the id after the first `/`. */
  readonly model?: string
  /** Tokens of prompt and answer together. */
  readonly contextWindow: number
  readonly maxOutput: number
  readonly price?: ModelPrice
  readonly headers?: Readonly<Record<string, string>>
  /** How long the model thinks before it answers, where this can be set. Default: the provider decides. */
  readonly effort?: Effort
  /** Named settings. A session or an agent chooses one as `provider/model:name`. */
  readonly variants?: Readonly<Record<string, RequestSettings>>
  /** Tools that the provider runs itself. Agents, prompts and denying rules remove them like any other tool. */
  readonly hosted?: readonly HostedTool[]
  /** After this silence a connection counts as broken. Default: the provider may think for any time. */
  readonly idleMs?: number
  /** Only for `scripted`: the answers. */
  readonly script?: readonly ScriptStep[] | Respond
}

/** The provider's name for the model. */
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
    hosted: listOf(oneOf(...HOSTED_TOOLS), HOSTED_TOOLS.length),
    model: STRING,
    apiKey: STRING,
    headers: mapOf(STRING),
    // Checked below.
    variants: something("settings by name", () => true),
    script: something(
      "a list of steps, or a function",
      (value) => Array.isArray(value) || typeof value === "function",
    ),
  },
)

/**
 * Throws INVALID_INPUT for a model that could never answer. It is better to learn this at opening than in the first turn.
 */
export const checkModelConfig = (config: ModelConfig): void => {
  const fail = (problem: string): Failure =>
    new Failure("INVALID_INPUT", { what: `Model "${config.id}": ${problem}` })
  const read = reader(CONFIG, { what: "it", fail })
  const { provider, baseURL, contextWindow, maxOutput, hosted = [] } = read(config)
  if (maxOutput > contextWindow) throw fail("`maxOutput` is beyond its `contextWindow`")
  if (provider === "openai-compatible" && baseURL === undefined) throw fail("`baseURL` is missing")
  for (const tool of hosted) {
    const problem = hostedProblem(tool, { provider, name: wireName(config) })
    if (problem !== undefined) throw fail(problem)
  }
  readVariants(config)
}

const VARIANT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Throws INVALID_INPUT. */
export const readVariants = ({ id, variants = {} }: ModelConfig): ReadonlyMap<string, RequestSettings> => {
  const fail = (problem: string): Failure =>
    new Failure("INVALID_INPUT", { what: `Model "${id}": ${problem}` })
  if (!isJsonObject(variants)) throw fail("`variants` must be an object of settings by name")
  const entries = Object.entries(variants)
  if (entries.length > LIMITS.modelVariants) throw fail(`at most ${LIMITS.modelVariants} variants`)
  return new Map(
    entries.map(([name, settings]) => {
      if (!VARIANT_NAME.test(name))
        throw fail(`a variant cannot be called ${JSON.stringify(name.slice(0, 80))}`)
      const what = `its variant ${name}`
      const read = reader(REQUEST_SETTINGS, { what, fail: (problem) => fail(`${what}: ${problem}`) })
      return [name, checkSettings(read(settings), `Model "${id}": ${what}`)]
    }),
  )
}
