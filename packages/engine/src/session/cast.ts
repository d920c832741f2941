/** Who takes part in a turn: agent, model, tools and rules. Chosen anew for every turn, before anything becomes visible. */
import { Failure } from "@meridian/protocol"
import { Context, Effect, Layer } from "effect"

import { isDeniedEverywhere, type PermissionRule } from "../domain/permission.ts"
import type { TraitsOf } from "../domain/tool-traits.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import type { LocationServices } from "../port/location.ts"
import type { Model, ToolAdvertisement } from "../port/model.ts"
import { ToolError, type ToolSet } from "../port/tool.ts"
import { DEFAULT_AGENT, Settings, type Agent, type SettingsValue } from "./settings.ts"

export interface Cast {
  readonly agent: Agent
  readonly model: Model
  /** What the session had chosen when this was made; a switch since then makes it outdated. */
  readonly choice: Choice
  readonly rules: readonly PermissionRule[]
  /** What the model is offered. */
  readonly advertisements: readonly ToolAdvertisement[]
  /** The offered tools; any other is refused. */
  readonly call: ToolSet["call"]
  readonly traitsOf: TraitsOf
}

interface Choice {
  readonly agent: string | undefined
  readonly model: string | undefined
}

export class Casting extends Context.Service<
  Casting,
  {
    readonly choose: (transcript: Transcript, location: LocationServices) => Effect.Effect<Cast, Failure>
  }
>()("meridian/Casting") {
  static readonly layer: Layer.Layer<Casting, never, Settings> = Layer.effect(
    Casting,
    Effect.map(Settings, (settings) => makeCasting(settings)),
  )
}

export const isOutdated = ({ choice }: Cast, transcript: Transcript): boolean => {
  const now = choiceOf(transcript)
  return now.agent !== choice.agent || now.model !== choice.model
}

export const findModel = (settings: SettingsValue, id: string | undefined): Effect.Effect<Model, Failure> => {
  const wanted = id ?? settings.defaultModel ?? [...settings.models.keys()][0]
  const model = wanted === undefined ? undefined : settings.models.get(wanted)
  if (model !== undefined) return Effect.succeed(model)
  const known = [...settings.models.keys()].join(", ")
  return Effect.fail(new Failure("MODEL_NOT_FOUND", { model: wanted ?? "(none)", known }))
}

const findAgent = (settings: SettingsValue, name: string = DEFAULT_AGENT): Effect.Effect<Agent, Failure> => {
  const agent = settings.agents.get(name)
  if (agent !== undefined) return Effect.succeed(agent)
  const known = [...settings.agents.keys()].join(", ")
  return Effect.fail(new Failure("AGENT_NOT_FOUND", { agent: name, known }))
}

type Offer = Pick<Cast, "rules" | "advertisements" | "call" | "traitsOf">

const makeCasting = (settings: SettingsValue): Casting["Service"] => {
  /** Neither the tools of a Location nor the agents change from turn to turn, so neither does what is offered. */
  const offers = new WeakMap<ToolSet, Map<Agent, Offer>>()

  const offerOf = (agent: Agent, tools: ToolSet): Offer => {
    const known = offers.get(tools) ?? new Map<Agent, Offer>()
    offers.set(tools, known)
    const offer = known.get(agent) ?? makeOffer([...settings.rules, ...agent.rules], tools)
    known.set(agent, offer)
    return offer
  }

  return {
    choose: (transcript, location) =>
      Effect.gen(function* () {
        const choice = choiceOf(transcript)
        const agent = yield* findAgent(settings, choice.agent)
        const model = yield* findModel(settings, choice.model ?? agent.model)
        const tools = yield* location.tools
        return { agent, model, choice, ...offerOf(agent, tools) }
      }),
  }
}

const choiceOf = ({ choices }: Transcript): Choice => ({ agent: choices.agent, model: choices.model })

const makeOffer = (rules: readonly PermissionRule[], tools: ToolSet): Offer => {
  const advertisements = tools.advertisements.filter(
    (tool) => !isDeniedEverywhere(rules, tools.traitsOf(tool.name).action ?? tool.name),
  )
  const offered = new Set(advertisements.map((tool) => tool.name))
  return {
    rules,
    advertisements,
    traitsOf: tools.traitsOf,
    call: (name, input, scene) =>
      offered.has(name) ? tools.call(name, input, scene) : Promise.reject(notOffered(name, advertisements)),
  }
}

const notOffered = (name: string, advertisements: readonly ToolAdvertisement[]): ToolError =>
  new ToolError(
    "unknown-tool",
    `There is no tool ${JSON.stringify(name.slice(0, 100))} here. Available: ${advertisements.map((tool) => tool.name).join(", ")}.`,
  )
