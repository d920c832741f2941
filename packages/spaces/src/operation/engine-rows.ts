/** The engine's models as rows of `meridian models list`. Pure. */
import { Failure, nearest, type TypeOf } from "@meridian/protocol"

import {
  findEngineModel,
  type EngineFacts,
  type EngineModel,
  type EngineModels,
  type UnusableModels,
} from "../domain/engine-model.ts"
import type { ModelLimits } from "../domain/model-limits.ts"
import { ECHO_MODEL } from "../domain/provider-preset.ts"
import type { EngineWorld } from "./engine-models.ts"
import type { MODELS_SHOW } from "./models.meta.ts"

export type ModelDocument = TypeOf<typeof MODELS_SHOW.output>

type Usability = Pick<
  ModelDocument,
  "usable" | "reason" | "default" | "role" | "context_window" | "max_output" | "price" | "limits" | "count"
>

/** Whether one model can be used, by its id, listed or not. */
export const usabilityOf = (id: string, facts: EngineFacts): Usability => {
  if (id === ECHO_MODEL) return { usable: true, role: ECHO_ROLE }
  const found = findEngineModel(id, facts)
  return found.tag === "unusable"
    ? { usable: false, reason: found.why, ...knownOf(facts.limits.get(id)) }
    : { usable: true, ...limitsOf(found.model) }
}

/** The catalogue's knowledge holds even without a key. */
const knownOf = (known: ModelLimits | undefined) =>
  known === undefined ? {} : limitsOf({ ...known, limits: "catalogue" })

/** A provider with more models gets a single row: an agent that lists models should not read hundreds. */
const LISTED_OF_PROVIDER = 60

const ECHO_ROLE = "Only repeats what it is told; last resort"

export const engineRows = (
  { usable, unusable }: EngineModels,
  { chosen, facts }: EngineWorld,
): readonly ModelDocument[] => {
  const taken = chosen ?? usable[0]?.id ?? ECHO_MODEL
  const counts = new Map<string, number>()
  for (const { id } of usable) counts.set(providerOf(id), (counts.get(providerOf(id)) ?? 0) + 1)
  const many = [...counts].filter(([, count]) => count > LISTED_OF_PROVIDER)
  const rows = usable.filter(
    ({ id, limits }) =>
      id === taken || limits === "config" || !many.some(([name]) => name === providerOf(id)),
  )
  const isListed = taken === ECHO_MODEL || [...usable, ...unusable].some(({ id }) => id === taken)
  const unlisted = isListed ? [] : [taken]
  return [
    // The user chose it, so it has a row whether it can be used or not.
    ...unlisted.map((id) => row(id, { ...usabilityOf(id, facts), default: true })),
    ...rows.map((model) => usableRow(model, taken)),
    ...many.map(([name, count]) =>
      row(`${name}/*`, { usable: true, count, role: `'meridian models list --provider ${name}' lists them` }),
    ),
    row(ECHO_MODEL, { usable: true, role: ECHO_ROLE, ...(taken === ECHO_MODEL ? { default: true } : {}) }),
    ...unusable.map((models) => unusableRow(models, taken)),
  ]
}

/** Results of a probe take precedence over the configuration. */
export const withReasons = (
  { usable, unusable }: EngineModels,
  reasons: ReadonlyMap<string, string>,
): EngineModels => {
  const told = (id: string): string | undefined => reasons.get(providerOf(id))
  return {
    usable: usable.filter(({ id }) => told(id) === undefined),
    unusable: [
      ...usable.flatMap(({ id }) => {
        const why = told(id)
        return why === undefined ? [] : [{ id, why, count: 1 }]
      }),
      ...unusable.map(({ id, why, count }) => ({ id, why: told(id) ?? why, count })),
    ],
  }
}

export const ofProvider = (
  provider: string,
  { usable, unusable }: EngineModels,
  { chosen }: EngineWorld,
): readonly ModelDocument[] => {
  const taken = chosen ?? usable[0]?.id
  const rows = usable.filter(({ id }) => providerOf(id) === provider).map((model) => usableRow(model, taken))
  const others = unusable.filter(({ id }) => providerOf(id) === provider)
  if (rows.length > 0) return rows
  if (others.length > 0) return others.map((models) => unusableRow(models, taken))
  const known = [...new Set([...usable, ...unusable].map(({ id }) => providerOf(id)))]
  const suggestion = nearest(provider, known)
  throw new Failure("USAGE", {
    problem: `No provider '${provider}' is known${suggestion === undefined ? "." : `, did you mean ${suggestion}?`}`,
    next: `name one of ${known.join(", ")}, or add [providers.${provider}] to config.toml.`,
  })
}

const row = (id: string, usability: Usability): ModelDocument => ({
  model_id: `direct/${id}`,
  aliases: [],
  harness: "direct",
  ...usability,
})

const usableRow = (model: EngineModel, taken: string | undefined): ModelDocument =>
  row(model.id, { usable: true, ...limitsOf(model), ...(model.id === taken ? { default: true } : {}) })

const unusableRow = ({ id, why, count }: UnusableModels, taken: string | undefined): ModelDocument =>
  row(id, { usable: false, reason: why, count, ...(id === taken ? { default: true } : {}) })

const limitsOf = ({
  contextWindow,
  maxOutput,
  price,
  limits,
}: Pick<EngineModel, "contextWindow" | "maxOutput" | "price" | "limits">) => ({
  context_window: contextWindow,
  max_output: maxOutput,
  ...(price === undefined
    ? {}
    : {
        price: {
          input: price.input,
          output: price.output,
          ...(price.cacheRead === undefined ? {} : { cache_read: price.cacheRead }),
          ...(price.cacheWrite === undefined ? {} : { cache_write: price.cacheWrite }),
        },
      }),
  limits,
})

const providerOf = (id: string): string => id.slice(0, id.indexOf("/"))
