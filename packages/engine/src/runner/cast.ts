/** Who takes part in a turn: agent, model, tools and rules. Sampled anew for every turn, before anything becomes visible. */
import { Failure } from "@meridian/protocol"
import { Exit, type Effect } from "effect"

import { isDeniedEverywhere, type PermissionRule } from "../domain/permission.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import type { Model, ToolAdvertisement } from "../port/model.ts"
import { ToolError } from "../port/tool.ts"
import { attemptNow } from "./attempt.ts"
import type { Place, Runtime } from "./drain.ts"
import { eventually } from "./eventually.ts"
import type { ToolSet } from "./locations.ts"
import { DEFAULT_AGENT, type Agent, type Settings } from "./settings.ts"
import type { CallTools } from "./tool-call.ts"

export interface Cast {
  readonly agent: Agent
  readonly model: Model
  /** What the session had chosen when this was made; a switch since then makes it outdated. */
  readonly choice: Choice
  readonly rules: readonly PermissionRule[]
  /** What the model is offered. */
  readonly advertisements: readonly ToolAdvertisement[]
  readonly tools: CallTools
}

export const chooseCast = (runtime: Runtime, place: Place): Effect.Effect<Cast, Failure> => {
  const { settings, histories } = runtime
  // A switch by another process is seen when the turn begins, which then asks again.
  const { transcript } = histories.known({ id: place.sessionID, key: place.fence.key })
  const chosen = attemptNow(() => {
    const agent = resolveAgent(settings, transcript.choices.agent)
    return { agent, model: resolveModel(settings, transcript.choices.model ?? agent.model) }
  })
  if (Exit.isFailure(chosen)) return Exit.failCause(chosen.cause)
  const { agent, model } = chosen.value
  return eventually(place.location.tools(), (tools) => ({
    agent,
    model,
    choice: choiceOf(transcript),
    ...offerOf(settings, agent, tools),
  }))
}

interface Choice {
  readonly agent: string | undefined
  readonly model: string | undefined
}

const choiceOf = ({ choices }: Transcript): Choice => ({ agent: choices.agent, model: choices.model })

export const isOutdated = ({ choice }: Cast, transcript: Transcript): boolean => {
  const now = choiceOf(transcript)
  return now.agent !== choice.agent || now.model !== choice.model
}

type Offer = Pick<Cast, "rules" | "advertisements" | "tools">

/** By the tools of a Location, which belong to one engine, then by agent: neither changes from turn to turn. */
const offers = new WeakMap<ToolSet, Map<Agent, Offer>>()

const offerOf = (settings: Settings, agent: Agent, tools: ToolSet): Offer => {
  const known = offers.get(tools) ?? new Map<Agent, Offer>()
  offers.set(tools, known)
  const offer = known.get(agent) ?? makeOffer([...settings.rules, ...agent.rules], tools)
  known.set(agent, offer)
  return offer
}

const makeOffer = (rules: readonly PermissionRule[], tools: ToolSet): Offer => {
  const advertisements = tools.advertisements.filter(
    (tool) => !isDeniedEverywhere(rules, actionOf(tool.name)),
  )
  const offered = new Set(advertisements.map((tool) => tool.name))
  return {
    rules,
    advertisements,
    tools: {
      call: (name, input, scene) =>
        offered.has(name) ? tools.call(name, input, scene) : Promise.reject(notOffered(name, advertisements)),
    },
  }
}

const notOffered = (name: string, advertisements: readonly ToolAdvertisement[]): ToolError =>
  new ToolError(
    "unknown-tool",
    `There is no tool ${JSON.stringify(name.slice(0, 100))} here. Available: ${advertisements.map((tool) => tool.name).join(", ")}.`,
  )

const resolveAgent = (settings: Settings, name: string = DEFAULT_AGENT): Agent => {
  const agent = settings.agents.get(name)
  if (agent === undefined)
    throw new Failure("AGENT_NOT_FOUND", { agent: name, known: [...settings.agents.keys()].join(", ") })
  return agent
}

export const resolveModel = (settings: Settings, id: string | undefined): Model => {
  const wanted = id ?? settings.defaultModel ?? [...settings.models.keys()][0]
  const model = wanted === undefined ? undefined : settings.models.get(wanted)
  if (model === undefined)
    throw new Failure("MODEL_NOT_FOUND", {
      model: wanted ?? "(none)",
      known: [...settings.models.keys()].join(", "),
    })
  return model
}

/** The permission a tool asks for; it decides whether a denial hides the tool. */
const actionOf = (tool: string): string => ACTIONS[tool] ?? tool

const ACTIONS: Readonly<Record<string, string>> = {
  read: "read",
  edit: "edit",
  write: "edit",
  apply_patch: "edit",
}
