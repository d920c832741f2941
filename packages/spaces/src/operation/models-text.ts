/** Rows and pages of models as a person reads them. */
import type { ModelDocument } from "./engine-rows.ts"

export const modelLine = (model: ModelDocument): readonly string[] => [
  model.model_id,
  model.harness,
  model.aliases.length === 0 ? "" : `(${model.aliases.join(", ")})`,
  describe(model),
  stateOf(model),
]

export const modelPage = (model: ModelDocument): string =>
  [
    `Model: ${model.model_id}`,
    `Harness: ${model.harness}${model.harness_model === undefined ? "" : ` (as ${model.harness_model})`}`,
    ...(model.aliases.length === 0 ? [] : [`Aliases: ${model.aliases.join(", ")}`]),
    ...(model.effort === undefined ? [] : [`Effort: ${model.effort}`]),
    ...(model.role === undefined ? [] : [`Role: ${model.role}`]),
    ...(model.strengths === undefined ? [] : [`Strengths: ${model.strengths}`]),
    ...(model.cost_tier === undefined ? [] : [`Cost: ${model.cost_tier}`]),
    ...(model.context_window === undefined ? [] : [`Limits: ${limitsText(model)}`]),
    ...(model.price === undefined ? [] : [`Price: ${pricesText(model.price)} per million tokens`]),
    `State: ${stateOf(model)}`,
  ].join("\n")

const describe = (model: ModelDocument): string => {
  if (model.context_window !== undefined)
    return [
      limitsText(model),
      model.price === undefined ? "no price known" : `$${model.price.input} / $${model.price.output}`,
    ].join(", ")
  const count = model.count === undefined || model.count === 0 ? [] : [`${model.count} models`]
  return [...count, ...(model.role === undefined ? [] : [model.role])].join(": ")
}

const stateOf = ({ usable, reason, default: taken }: ModelDocument): string => {
  if (!usable) return `not usable: ${reason ?? "unknown"}`
  return taken === true ? "usable, default" : "usable"
}

const limitsText = ({ context_window: window, max_output: output, limits }: ModelDocument): string =>
  `${tokens(window ?? 0)} window, ${tokens(output ?? 0)} out${limits === "assumed" ? " (assumed)" : ""}`

const tokens = (count: number): string => {
  if (count >= 1_000_000) return `${Number((count / 1_000_000).toFixed(1))}M`
  return count >= 1_000 ? `${Math.round(count / 1_000)}k` : String(count)
}

const pricesText = (price: NonNullable<ModelDocument["price"]>): string =>
  [
    `$${price.input} in`,
    `$${price.output} out`,
    ...(price.cache_read === undefined ? [] : [`$${price.cache_read} from cache`]),
    ...(price.cache_write === undefined ? [] : [`$${price.cache_write} to cache`]),
  ].join(", ")
