/** `meridian models list|show`: rows of harnesses first, then those of the engine. */
import type { Config } from "../domain/config-option.ts"
import { listEngineModels } from "../domain/engine-model.ts"
import type { Model } from "../domain/model-catalogue.ts"
import { findModel, routeModel } from "../domain/model-route.ts"
import { loadCatalogue } from "../store/catalogue.ts"
import { openPlace } from "../store/place.ts"
import { unknownModel } from "./agents-launch.ts"
import { readConfig } from "./config.ts"
import { readEngineFacts, type EngineWorld } from "./engine-models.ts"
import { engineRows, ofProvider, usabilityOf, withReasons, type ModelDocument } from "./engine-rows.ts"
import { findBinary, missingBinary } from "./find-binary.ts"
import { modelLine, modelPage } from "./models-text.ts"
import { MODELS_LIST, MODELS_SHOW } from "./models.meta.ts"
import { implement } from "./operation.ts"
import { columns } from "./text-table.ts"
import type { World } from "./world.ts"

export const modelsList = implement(MODELS_LIST, {
  run: async ({ provider, probe }, world) => {
    const known = await readEngineFacts(world)
    const { facts, reasons } = probe
      ? await (await import("./probe-providers.ts")).probeProviders(known.facts, world)
      : { facts: known.facts, reasons: new Map<string, string>() }
    // The model a run would take. A run never asks the servers, so the answer must not depend on them either.
    const chosen = known.chosen ?? listEngineModels(known.facts).usable[0]?.id
    const engine = { facts, chosen }
    const listed = withReasons(listEngineModels(facts), reasons)
    if (provider !== undefined) return { models: ofProvider(provider, listed, engine) }
    const { config } = await readConfig(world)
    const models = await readModels(world)
    return {
      models: [
        ...models.map((model) => modelDocument(model, { config, engine, world })),
        ...engineRows(listed, engine),
      ],
    }
  },
  text: ({ models }) => columns(models.map(modelLine)),
})

export const modelsShow = implement(MODELS_SHOW, {
  run: async ({ model: name }, world) => {
    const scene = {
      config: (await readConfig(world)).config,
      engine: await readEngineFacts(world),
      world,
    }
    const models = await readModels(world)
    const model = findModel(models, name)
    if (model !== undefined) return modelDocument(model, scene)
    const route = routeModel(models, name)
    if (route.tag === "unknown") throw unknownModel(route)
    return modelDocument(
      {
        id: route.model,
        aliases: [],
        harness: route.harness,
        ...(route.harnessModel === route.model ? {} : { harnessModel: route.harnessModel }),
      },
      scene,
    )
  },
  text: modelPage,
})

interface Scene {
  readonly config: Config
  readonly engine: EngineWorld
  readonly world: World
}

const readModels = async (world: World): Promise<readonly Model[]> => {
  const { models, warnings } = await loadCatalogue(openPlace(world.env, world.cwd).root, world.env)
  for (const { code, facts } of warnings) world.warn(code, facts)
  return models
}

const modelDocument = (model: Model, scene: Scene): ModelDocument => ({
  model_id: model.id,
  aliases: model.aliases,
  harness: model.harness,
  ...(model.harness === "direct" ? directFacts(model, scene.engine) : harnessFacts(model.harness, scene)),
  ...(model.harnessModel === undefined ? {} : { harness_model: model.harnessModel }),
  ...(model.effort === undefined ? {} : { effort: model.effort }),
  ...(model.role === undefined ? {} : { role: model.role }),
  ...(model.strengths === undefined ? {} : { strengths: model.strengths }),
  ...(model.costTier === undefined ? {} : { cost_tier: model.costTier }),
})

const harnessFacts = (
  harness: Exclude<Model["harness"], "direct">,
  { config, world }: Scene,
): { readonly usable: boolean; readonly reason?: string } => {
  const command = config[`harness.${harness}`]
  if (findBinary(command, world) !== undefined) return { usable: true }
  return { usable: false, reason: missingBinary(command) }
}

const directFacts = (model: Model, { facts, chosen }: EngineWorld) => {
  const id = (model.harnessModel ?? model.id).replace(/^direct\//, "")
  return { ...usabilityOf(id, facts), ...(id === chosen ? { default: true } : {}) }
}
