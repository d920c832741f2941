/** Model name or alias -> the harness that runs it and that harness's name for it. Pure. */
import { nearest } from "@meridian/protocol"

import { harnessByName, type HarnessName, type Model } from "./model-catalogue.ts"

export type Route =
  | {
      readonly tag: "routed"
      readonly model: string
      readonly harness: HarnessName
      readonly harnessModel: string
      readonly effort?: string
      /** False if only the look of the name decided. */
      readonly listed: boolean
    }
  | { readonly tag: "unknown"; readonly model: string; readonly suggestion: string | undefined }

export const routeModel = (models: readonly Model[], name: string): Route => {
  const model = findModel(models, name)
  if (model !== undefined)
    return {
      tag: "routed",
      model: model.id,
      harness: model.harness,
      harnessModel: model.harnessModel ?? model.id,
      ...(model.effort === undefined ? {} : { effort: model.effort }),
      listed: true,
    }
  const harness = harnessByName(name)
  if (harness === undefined)
    return { tag: "unknown", model: name, suggestion: nearest(name, namesOf(models)) }
  const harnessModel = name.replace(/^(opencode-|direct\/)/, "")
  return { tag: "routed", model: name, harness, harnessModel, listed: false }
}

export const findModel = (models: readonly Model[], name: string): Model | undefined =>
  models.find((model) => model.id === name) ?? models.find((model) => model.aliases.includes(name))

const namesOf = (models: readonly Model[]): readonly string[] =>
  models.flatMap((model) => [model.id, ...model.aliases])
