/** Finds a model by the name that people write: `provider/model` or `provider/model:variant`. */
import type { RequestSettings } from "@meridian/protocol"

import { NO_SETTINGS } from "./request-settings.ts"

interface WithVariants {
  readonly variants?: ReadonlyMap<string, RequestSettings>
}

export interface ChosenModel<Model> {
  readonly model: Model
  readonly variant: string | undefined
  /** The settings of the variant. */
  readonly settings: RequestSettings
}

/** A model id may contain a colon, so try the whole name first. */
export const lookUpModel = <Model extends WithVariants>(
  models: ReadonlyMap<string, Model>,
  name: string,
): ChosenModel<Model> | undefined => {
  const exact = models.get(name)
  if (exact !== undefined) return { model: exact, variant: undefined, settings: NO_SETTINGS }
  const { id, variant } = split(name)
  const model = models.get(id)
  const settings = model?.variants?.get(variant)
  return model === undefined || settings === undefined ? undefined : { model, variant, settings }
}

/** Names to suggest. For a misspelt variant, the variants of that model. */
export const knownModels = (models: ReadonlyMap<string, WithVariants>, name: string): readonly string[] => {
  const variantsOf = (id: string): readonly string[] =>
    [...(models.get(id)?.variants?.keys() ?? [])].map((variant) => `${id}:${variant}`)
  const near = variantsOf(split(name).id)
  return near.length > 0 ? near : [...models.keys()].flatMap((id) => [id].concat(variantsOf(id)))
}

const split = (name: string): { readonly id: string; readonly variant: string } => {
  const colon = Math.max(0, name.lastIndexOf(":"))
  return { id: name.slice(0, colon), variant: name.slice(colon + 1) }
}
