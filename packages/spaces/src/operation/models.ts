/** `meridian models list|show`. */
import type { Model } from "../domain/model-catalogue.ts"
import { findModel, routeModel } from "../domain/model-route.ts"
import { loadCatalogue } from "../store/catalogue.ts"
import { openPlace } from "../store/place.ts"
import { unknownModel } from "./agents-launch.ts"
import { MODELS_LIST, MODELS_SHOW } from "./models.meta.ts"
import { implement } from "./operation.ts"
import { columns } from "./text-table.ts"
import type { World } from "./world.ts"

export const modelsList = implement(MODELS_LIST, {
  run: async (_input, world) => ({ models: (await readModels(world)).map(modelDocument) }),
  text: ({ models }) =>
    columns(
      models.map(({ model_id: id, harness, aliases, role }) => [
        id,
        harness,
        aliases.length === 0 ? "" : `(${aliases.join(", ")})`,
        role ?? "",
      ]),
    ),
})

export const modelsShow = implement(MODELS_SHOW, {
  run: async ({ model: name }, world) => {
    const models = await readModels(world)
    const model = findModel(models, name)
    if (model !== undefined) return modelDocument(model)
    const route = routeModel(models, name)
    if (route.tag === "unknown") throw unknownModel(route)
    return modelDocument({
      id: route.model,
      aliases: [],
      harness: route.harness,
      ...(route.harnessModel === route.model ? {} : { harnessModel: route.harnessModel }),
    })
  },
  text: (model) =>
    [
      `Model: ${model.model_id}`,
      `Harness: ${model.harness}${model.harness_model === undefined ? "" : ` (as ${model.harness_model})`}`,
      ...(model.aliases.length === 0 ? [] : [`Aliases: ${model.aliases.join(", ")}`]),
      ...(model.effort === undefined ? [] : [`Effort: ${model.effort}`]),
      ...(model.role === undefined ? [] : [`Role: ${model.role}`]),
      ...(model.strengths === undefined ? [] : [`Strengths: ${model.strengths}`]),
      ...(model.cost_tier === undefined ? [] : [`Cost: ${model.cost_tier}`]),
    ].join("\n"),
})

const readModels = async (world: World): Promise<readonly Model[]> => {
  const { models, warnings } = await loadCatalogue(openPlace(world.env, world.cwd).root)
  for (const { code, facts } of warnings) world.warn(code, facts)
  return models
}

const modelDocument = (model: Model) => ({
  model_id: model.id,
  aliases: model.aliases,
  harness: model.harness,
  ...(model.harnessModel === undefined ? {} : { harness_model: model.harnessModel }),
  ...(model.effort === undefined ? {} : { effort: model.effort }),
  ...(model.role === undefined ? {} : { role: model.role }),
  ...(model.strengths === undefined ? {} : { strengths: model.strengths }),
  ...(model.costTier === undefined ? {} : { cost_tier: model.costTier }),
})
