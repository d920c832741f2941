/** The models of the engine: which can be used now, with which limits, and why the others cannot. Pure. */
import { providerState, providerStates, type Connection } from "./engine-provider.ts"
import type { ModelLimits, ModelPrice } from "./model-limits.ts"
import { PROVIDER_PRESETS, type ProviderKind } from "./provider-preset.ts"
import type { ModelSettings, ProviderTables } from "./provider-table.ts"

export interface EngineModel {
  /** `provider/model`. */
  readonly id: string
  /** The provider's name for it. */
  readonly model: string
  readonly connection: Connection
  readonly contextWindow: number
  readonly maxOutput: number
  readonly price?: ModelPrice
  /** How long a silence counts as a broken connection. */
  readonly idleMs?: number
  /** Named settings, chosen as `provider/model:name`. */
  readonly variants?: NonNullable<ModelSettings["variants"]>
  /** Tools the provider runs itself. */
  readonly hosted?: NonNullable<ModelSettings["hosted"]>
  /** The source of the limits; `assumed` if no source knows the model. */
  readonly limits: "config" | "catalogue" | "assumed"
}

export interface UnusableModels {
  /** `provider/model`, or `provider/*` for all models of a provider. */
  readonly id: string
  readonly why: string
  /** How many of them the catalogue knows. */
  readonly count: number
}

export interface EngineModels {
  /** In the order in which they are tried when no model was chosen. */
  readonly usable: readonly EngineModel[]
  readonly unusable: readonly UnusableModels[]
}

export interface EngineFacts {
  readonly tables: ProviderTables
  readonly env: Readonly<Record<string, string | undefined>>
  readonly limits: ReadonlyMap<string, ModelLimits>
}

export const listEngineModels = (facts: EngineFacts): EngineModels => {
  const usable: EngineModel[] = []
  const unusable: UnusableModels[] = []
  for (const state of providerStates(facts.tables, facts.env)) {
    const names = namesOf(state.name, facts)
    if (state.tag === "unusable")
      unusable.push({ id: `${state.name}/*`, why: state.why, count: names.length })
    else if (names.length === 0)
      unusable.push({
        id: `${state.name}/*`,
        why: `no models are named: set providers.${state.name}.models, or add [models."${state.name}/NAME"]`,
        count: 0,
      })
    else usable.push(...names.map((name) => engineModel(`${state.name}/${name}`, state.connection, facts)))
  }
  return { usable, unusable }
}

export type FoundModel =
  | { readonly tag: "usable"; readonly model: EngineModel }
  | { readonly tag: "unusable"; readonly why: string }

/** A model's names: its id, and one for each variant. */
export const namesOfModel = ({
  id,
  variants = {},
}: Pick<EngineModel, "id" | "variants">): readonly string[] => [
  id,
  ...Object.keys(variants).map((name) => `${id}:${name}`),
]

/** Finds any model of a reachable provider, even an unlisted one, whose limits are then assumed. */
export const findEngineModel = (id: string, facts: EngineFacts): FoundModel => {
  const slash = id.indexOf("/")
  if (slash <= 0 || slash === id.length - 1)
    return { tag: "unusable", why: "a model of the engine is named provider/model" }
  const state = providerState(id.slice(0, slash), facts.tables, facts.env)
  return state.tag === "unusable"
    ? { tag: "unusable", why: state.why }
    : { tag: "usable", model: engineModel(id, state.connection, facts) }
}

/** The configured models in their order, then the preferred ones, then the catalogue's by name. */
const namesOf = (provider: string, { tables, limits }: EngineFacts): readonly string[] => {
  const start = `${provider}/`
  const ofProvider = (ids: Iterable<string>): readonly string[] =>
    [...ids].filter((id) => id.startsWith(start)).map((id) => id.slice(start.length))
  const listed = ofProvider(limits.keys())
  const preferred = (PROVIDER_PRESETS[provider]?.preferred ?? []).filter((name) => listed.includes(name))
  return [
    ...new Set([
      ...(tables.providers.get(provider)?.models ?? []),
      ...ofProvider(tables.models.keys()),
      ...preferred,
      ...listed,
    ]),
  ]
}

/** What an unknown model is assumed to have: a hosted one at least this much, a local one often less. */
const ASSUMED: Readonly<Record<ProviderKind, { readonly window: number; readonly output: number }>> = {
  anthropic: { window: 200_000, output: 32_000 },
  openai: { window: 128_000, output: 16_000 },
  google: { window: 128_000, output: 8_000 },
  "openai-compatible": { window: 32_768, output: 4_096 },
}

/** The share of the window an answer may take. The rest is for the conversation. */
const LONGEST_ANSWER = 64_000
const ANSWER_SHARE = 4

const engineModel = (id: string, connection: Connection, facts: EngineFacts): EngineModel => {
  const row: ModelSettings = facts.tables.models.get(id) ?? {}
  const model = row.model ?? id.slice(id.indexOf("/") + 1)
  // A custom name for a hosted kind has the same models. The models of a compatible server are unknown.
  const known = facts.limits.get(id) ?? facts.limits.get(`${connection.kind}/${model}`)
  const assumed = ASSUMED[connection.kind]
  const contextWindow = row.context_window ?? known?.contextWindow ?? assumed.window
  const longest = row.max_output ?? Math.min(known?.maxOutput ?? assumed.output, LONGEST_ANSWER)
  const share = row.max_output === undefined ? Math.ceil(contextWindow / ANSWER_SHARE) : contextWindow
  const price = priceOf(row, known?.price)
  return {
    id,
    model,
    connection,
    contextWindow,
    maxOutput: Math.min(longest, share),
    ...(price === undefined ? {} : { price }),
    ...(row.idle_ms === undefined ? {} : { idleMs: row.idle_ms }),
    ...(row.hosted === undefined ? {} : { hosted: row.hosted }),
    ...(row.variants === undefined ? {} : { variants: row.variants }),
    limits: row.context_window !== undefined ? "config" : known === undefined ? "assumed" : "catalogue",
  }
}

/** If only one of the two sources gives a price, that price counts. Without any, the price is unknown, not free. */
const priceOf = (row: ModelSettings, known: ModelPrice | undefined): ModelPrice | undefined => {
  const cacheRead = row.cache_read_price ?? known?.cacheRead
  const cacheWrite = row.cache_write_price ?? known?.cacheWrite
  const given = [row.input_price, row.output_price, row.cache_read_price, row.cache_write_price]
  if (given.every((price) => price === undefined)) return known
  return {
    input: row.input_price ?? known?.input ?? 0,
    output: row.output_price ?? known?.output ?? 0,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  }
}
