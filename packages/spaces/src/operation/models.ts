/** `meridian models list|show`: rows of harnesses first, then those of the engine. */
import { Failure } from "@meridian/protocol"

import type { Config } from "../domain/config-option.ts"
import {
  findEngineModel,
  listEngineModels,
  type EngineModel,
  type EngineModels,
  type UnusableModels,
} from "../domain/engine-model.ts"
import type { Model } from "../domain/model-catalogue.ts"
import { findModel, routeModel } from "../domain/model-route.ts"
import { nearest } from "../domain/nearest.ts"
import { ECHO_MODEL } from "../domain/provider-preset.ts"
import { loadCatalogue } from "../store/catalogue.ts"
import { openPlace } from "../store/place.ts"
import { unknownModel } from "./agents-launch.ts"
import { readConfig } from "./config.ts"
import { readEngineFacts, type EngineWorld } from "./engine-models.ts"
import { findBinary } from "./find-binary.ts"
import { modelLine, modelPage } from "./models-text.ts"
import { MODELS_LIST, MODELS_SHOW } from "./models.meta.ts"
import { implement } from "./operation.ts"
import type { DocumentOf } from "./schema.ts"
import { columns } from "./text-table.ts"
import type { World } from "./world.ts"

export type ModelDocument = DocumentOf<typeof MODELS_SHOW.output>

export const modelsList = implement(MODELS_LIST, {
  run: async ({ provider, probe }, world) => {
    const known = await readEngineFacts(world)
    const { facts, reasons } = probe
      ? await (await import("./probe-providers.ts")).probeProviders(known.facts, world)
      : { facts: known.facts, reasons: new Map<string, string>() }
    const engine = { ...known, facts }
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
  const { models, warnings } = await loadCatalogue(openPlace(world.env, world.cwd).root)
  for (const { code, facts } of warnings) world.warn(code, facts)
  return models
}

const modelDocument = (model: Model, scene: Scene): ModelDocument => ({
  model_id: model.id,
  aliases: model.aliases,
  harness: model.harness,
  ...(model.harness === "direct" ? engineFacts(model, scene.engine) : harnessFacts(model.harness, scene)),
  ...(model.harnessModel === undefined ? {} : { harness_model: model.harnessModel }),
  ...(model.effort === undefined ? {} : { effort: model.effort }),
  ...(model.role === undefined ? {} : { role: model.role }),
  ...(model.strengths === undefined ? {} : { strengths: model.strengths }),
  ...(model.costTier === undefined ? {} : { cost_tier: model.costTier }),
})

type Usability = Pick<
  ModelDocument,
  "usable" | "reason" | "default" | "role" | "context_window" | "max_output" | "price" | "limits" | "count"
>

const harnessFacts = (
  harness: Exclude<Model["harness"], "direct">,
  { config, world }: Scene,
): { readonly usable: boolean; readonly reason?: string } => {
  const command = config[`harness.${harness}`]
  if (findBinary(command, world) !== undefined) return { usable: true }
  const where = command.includes("/") ? "is not there" : "not found on PATH"
  return { usable: false, reason: `binary '${command}' ${where}` }
}

const engineFacts = (model: Model, { facts, chosen }: EngineWorld): Usability => {
  const id = (model.harnessModel ?? model.id).replace(/^direct\//, "")
  if (id === ECHO_MODEL) return { usable: true, role: ECHO_ROLE }
  const found = findEngineModel(id, facts)
  if (found.tag === "unusable") return { usable: false, reason: found.why }
  return { usable: true, ...limitsOf(found.model), ...(id === chosen ? { default: true } : {}) }
}

/** Beyond this many, a provider is one row: an agent that lists models should not read hundreds. */
const LISTED_OF_PROVIDER = 60

const ECHO_ROLE = "Only repeats what it is told; last resort"

const engineRows = (
  { usable, unusable }: EngineModels,
  { chosen }: EngineWorld,
): readonly ModelDocument[] => {
  const taken = chosen ?? usable[0]?.id ?? ECHO_MODEL
  const counts = new Map<string, number>()
  for (const { id } of usable) counts.set(providerOf(id), (counts.get(providerOf(id)) ?? 0) + 1)
  const many = [...counts].filter(([, count]) => count > LISTED_OF_PROVIDER)
  const rows = usable.filter(
    ({ id, limits }) =>
      id === taken || limits === "config" || !many.some(([name]) => name === providerOf(id)),
  )
  return [
    ...rows.map((model) => usableRow(model, taken)),
    ...many.map(([name, count]) =>
      row(`${name}/*`, { usable: true, count, role: `'meridian models list --provider ${name}' lists them` }),
    ),
    row(ECHO_MODEL, { usable: true, role: ECHO_ROLE, ...(taken === ECHO_MODEL ? { default: true } : {}) }),
    ...unusable.map(unusableRow),
  ]
}

/** What asking has shown goes before what the configuration says. */
const withReasons = (
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

const ofProvider = (
  provider: string,
  { usable, unusable }: EngineModels,
  { chosen }: EngineWorld,
): readonly ModelDocument[] => {
  const taken = chosen ?? usable[0]?.id
  const rows = usable.filter(({ id }) => providerOf(id) === provider).map((model) => usableRow(model, taken))
  const others = unusable.filter(({ id }) => providerOf(id) === provider)
  if (rows.length > 0) return rows
  if (others.length > 0) return others.map(unusableRow)
  const known = [...new Set([...usable, ...unusable].map(({ id }) => providerOf(id)))]
  const suggestion = nearest(provider, known)
  throw new Failure("USAGE", {
    problem: `No provider '${provider}' is known${suggestion === undefined ? "" : `, did you mean ${suggestion}?`}${suggestion === undefined ? "." : ""}`,
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

const unusableRow = ({ id, why, count }: UnusableModels): ModelDocument =>
  row(id, { usable: false, reason: why, count })

const limitsOf = ({ contextWindow, maxOutput, price, limits }: EngineModel) => ({
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
