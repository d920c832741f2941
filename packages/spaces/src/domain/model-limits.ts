/**
 * What we know about models: how much they read and write, and what that costs. A catalogue is a text with one model
 * per line,
 *
 *   provider/model window output input output [cache-read [cache-write]]
 *
 * tokens first, then dollars per million tokens, `-` for an unknown price. The first line is a remark with its date
 * and source: `# models 2026-11-15 https://...`. The bundled catalogue and an updated one have the same format.
 */
import { isJsonObject } from "@meridian/protocol"

export interface ModelPrice {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

export interface ModelLimits {
  /** `provider/model`, the model as the provider names it. */
  readonly id: string
  readonly contextWindow: number
  readonly maxOutput: number
  readonly price?: ModelPrice
}

export interface LimitsCatalogue {
  /** `2026-11-15`, or "" if its first line does not say. */
  readonly date: string
  readonly origin: string
  readonly models: ReadonlyMap<string, ModelLimits>
}

/** Skips lines that do not describe a model: a damaged catalogue knows less, but it does not fail. */
export const parseLimits = (text: string): LimitsCatalogue => {
  const [, date = "", origin = ""] = /^# models (\d{4}-\d\d-\d\d) (\S+)/.exec(text) ?? []
  const models = new Map<string, ModelLimits>()
  for (const line of text.split("\n")) {
    const model = line.startsWith("#") ? undefined : parseLine(line)
    if (model !== undefined && models.size < MOST_MODELS) models.set(model.id, model)
  }
  return { date, origin, models }
}

export const renderLimits = (
  models: readonly ModelLimits[],
  { date, origin }: { readonly date: string; readonly origin: string },
): string =>
  [
    `# models ${date} ${origin.replaceAll(/\s/g, "")}`,
    ...models.map(renderLine).toSorted((left, right) => (left < right ? -1 : 1)),
    "",
  ].join("\n")

/** The newer catalogue wins. Models that only the older one knows stay. */
export const mergeLimits = (bundled: LimitsCatalogue, kept: LimitsCatalogue | undefined): LimitsCatalogue => {
  if (kept === undefined || kept.models.size === 0 || kept.date < bundled.date) return bundled
  return { ...kept, models: new Map([...bundled.models, ...kept.models]) }
}

/** Reads the shape of models.dev's api.json: providers by id, each with its models. Undefined for another shape. */
export const readModelsDev = (value: unknown): readonly ModelLimits[] | undefined => {
  if (!isJsonObject(value)) return undefined
  const models = Object.entries(value).flatMap(([provider, fields]) =>
    isJsonObject(fields) && isJsonObject(fields["models"]) && NAME.test(provider)
      ? Object.entries(fields["models"]).flatMap(([name, model]) => readModel(`${provider}/${name}`, model))
      : [],
  )
  return models.length === 0 || models.length > MOST_MODELS ? undefined : models
}

/** A bound on what we believe; models.dev lists about 4,000. */
const MOST_MODELS = 20_000

const NAME = /^[\w.-]{1,64}$/
const ID = /^[\w.-]{1,64}\/[\x21-\x7E]{1,200}$/

const readModel = (id: string, model: unknown): readonly ModelLimits[] => {
  if (!isJsonObject(model) || !ID.test(id)) return []
  const limit = isJsonObject(model["limit"]) ? model["limit"] : {}
  const cost = isJsonObject(model["cost"]) ? model["cost"] : {}
  const modalities = isJsonObject(model["modalities"]) ? model["modalities"]["output"] : undefined
  const contextWindow = countOf(limit["context"])
  const maxOutput = countOf(limit["output"])
  if (contextWindow === undefined || maxOutput === undefined) return []
  // An agent calls tools and writes text. A model that cannot do both is useless for it.
  if (model["tool_call"] === false || model["status"] === "deprecated") return []
  if (Array.isArray(modalities) && !modalities.includes("text")) return []
  const price = priceOf([cost["input"], cost["output"], cost["cache_read"], cost["cache_write"]])
  return [
    {
      id,
      contextWindow,
      maxOutput: Math.min(maxOutput, contextWindow),
      ...(price === undefined ? {} : { price }),
    },
  ]
}

const parseLine = (line: string): ModelLimits | undefined => {
  const [id = "", window, output, ...prices] = line.trim().split(/\s+/)
  const contextWindow = countOf(Number(window))
  const maxOutput = countOf(Number(output))
  if (!ID.test(id) || contextWindow === undefined || maxOutput === undefined) return undefined
  const price = priceOf(prices.map((text) => (text === "-" ? undefined : Number(text))))
  return {
    id,
    contextWindow,
    maxOutput: Math.min(maxOutput, contextWindow),
    ...(price === undefined ? {} : { price }),
  }
}

const renderLine = ({ id, contextWindow, maxOutput, price }: ModelLimits): string => {
  const prices =
    price === undefined ? [] : [price.input, price.output, price.cacheRead ?? "-", price.cacheWrite ?? "-"]
  return [id, contextWindow, maxOutput, ...prices].join(" ").replace(/( -)+$/, "")
}

const priceOf = ([input, output, cacheRead, cacheWrite]: readonly unknown[]): ModelPrice | undefined =>
  isPrice(input) && isPrice(output)
    ? {
        input,
        output,
        ...(isPrice(cacheRead) ? { cacheRead } : {}),
        ...(isPrice(cacheWrite) ? { cacheWrite } : {}),
      }
    : undefined

const isPrice = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value >= 0

const countOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined
