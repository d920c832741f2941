/**
 * Who takes part in a turn: agent, model, tools and rules. Chosen again for every turn, before anything becomes visible.
 */
import { Failure, matchesWildcard, type Overrides, type RequestSettings } from "@meridian/protocol"
import { Context, Effect, Layer } from "effect"

import { knownModels, lookUpModel, type ChosenModel } from "../domain/choose-model.ts"
import { outlookOf, type Moment, type Outlook, type TurnBounds } from "../domain/outlook.ts"
import { differingOverride, saysOfTool } from "../domain/overrides.ts"
import { isDeniedEverywhere, type PermissionRule } from "../domain/permission.ts"
import { mergeSettings } from "../domain/request-settings.ts"
import type { TraitsOf } from "../domain/tool-traits.ts"
import { overridesAhead } from "../domain/transcript/activity.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import type { ActiveHooks } from "../port/hooks.ts"
import type { LocationServices } from "../port/location.ts"
import type { Model, ToolAdvertisement } from "../port/model.ts"
import { ToolError, type ToolSet } from "../port/tool.ts"
import { DEFAULT_AGENT, isForPeople, Settings, type Agent, type SettingsValue } from "./settings.ts"
import { openWantedAnswer, type WantedAnswer } from "./wanted-answer.ts"

export interface Cast {
  readonly agent: Agent
  readonly model: Model
  /** The model variant that the session or the agent named. */
  readonly variant: string | undefined
  /** Combined from the agent, the variant and the inputs. */
  readonly settings: RequestSettings
  /** In tokens: for a request with its answer, and for the answer alone. */
  readonly window: { readonly contextWindow: number; readonly maxOutput: number }
  /** How many turns the cast may take. */
  readonly bounds: TurnBounds
  /** The last turn: the model is told to wrap up and gets no tools. */
  readonly isLast: boolean
  /** How the inputs of this activity change its requests. */
  readonly overrides: Overrides
  /** How the requested value is given: through a tool of its own, or as the model's whole answer. */
  readonly answer: "tool" | "native" | undefined
  /** What the session had chosen at this time. A later switch makes the cast outdated. */
  readonly choice: Choice
  readonly rules: readonly PermissionRule[]
  /** The rules of the sessions this one works for. What any of them denies is denied here. */
  readonly ceilings: readonly (readonly PermissionRule[])[]
  /** The names of the tools that the agent may use at all. */
  readonly toolNames: readonly string[]
  /** The tools that the model is offered. */
  readonly advertisements: readonly ToolAdvertisement[]
  /** The tools that the provider runs itself. */
  readonly hosted: readonly string[] | undefined
  /** Calls an offered tool; any other is refused. */
  readonly call: ToolSet["call"]
  readonly traitsOf: TraitsOf
  /** The hooks of the extensions present when the turn began. */
  readonly hooks: ActiveHooks | undefined
}

interface Choice {
  readonly agent: string | undefined
  readonly model: string | undefined
}

export class Casting extends Context.Service<
  Casting,
  {
    /** Without `moment`: for the continuation of a turn that has begun. */
    readonly choose: (
      transcript: Transcript,
      location: LocationServices,
      moment?: Moment,
    ) => Effect.Effect<Cast, Failure>
  }
>()("meridian/Casting") {
  static readonly layer: Layer.Layer<Casting, never, Settings> = Layer.effect(
    Casting,
    Effect.map(Settings, (settings) => makeCasting(settings)),
  )
}

export const isOutdated = (cast: Cast, transcript: Transcript, outlook: Outlook): boolean => {
  const now = choiceOf(transcript)
  const { choice, isLast, overrides } = cast
  return (
    now.agent !== choice.agent ||
    now.model !== choice.model ||
    outlook.isLast !== isLast ||
    (outlook.overrides !== overrides && differingOverride(outlook.overrides, overrides) !== undefined)
  )
}

type Models = Pick<SettingsValue, "models" | "defaultModel">

/** Without a name: the default model. */
export const findModel = (
  settings: Models,
  name: string | undefined,
): Effect.Effect<ChosenModel<Model>, Failure> => {
  const wanted = name ?? settings.defaultModel ?? [...settings.models.keys()][0]
  const chosen = wanted === undefined ? undefined : lookUpModel(settings.models, wanted)
  return chosen === undefined ? Effect.fail(modelNotFound(settings, wanted)) : Effect.succeed(chosen)
}

/** Throws MODEL_NOT_FOUND. */
export const requireModel = (settings: Models, name: string): void => {
  if (lookUpModel(settings.models, name) === undefined) throw modelNotFound(settings, name)
}

/** Throws for an agent that people cannot choose: AGENT_NOT_FOUND, AGENT_NOT_PRIMARY. */
export const requirePrimaryAgent = ({ agents }: Pick<SettingsValue, "agents">, name: string): void => {
  const agent = agents.get(name)
  if (agent !== undefined && agent.mode !== "sub") return
  const known = [...agents.values()]
    .filter(isForPeople)
    .map((one) => one.name)
    .join(", ")
  throw new Failure(agent === undefined ? "AGENT_NOT_FOUND" : "AGENT_NOT_PRIMARY", { agent: name, known })
}

const modelNotFound = ({ models }: Models, model = "(none)"): Failure =>
  new Failure("MODEL_NOT_FOUND", { model, known: knownModels(models, model).join(", ") })

const findAgent = (settings: SettingsValue, name: string = DEFAULT_AGENT): Effect.Effect<Agent, Failure> => {
  const agent = settings.agents.get(name)
  if (agent !== undefined) return Effect.succeed(agent)
  const known = [...settings.agents.keys()].join(", ")
  return Effect.fail(new Failure("AGENT_NOT_FOUND", { agent: name, known }))
}

type Offer = Pick<
  Cast,
  "rules" | "ceilings" | "toolNames" | "advertisements" | "call" | "traitsOf" | "answer"
>

/** What may be offered, before the model and the last turn are known. */
interface Stock {
  readonly offer: Offer
  /** With the tool that takes the value: beside the others, and alone. */
  readonly wanted: { readonly beside: Offer; readonly alone: Offer } | undefined
}

const makeCasting = (settings: SettingsValue): Casting["Service"] => {
  /** The tools of a Location, the agents and the wishes of a prompt do not change from turn to turn. */
  const stocks = new WeakMap<ToolSet, Map<Agent, WeakMap<Overrides, Stock>>>()

  const stockOf = (agent: Agent, tools: ToolSet, overrides: Overrides, task: Task | undefined): Stock => {
    if (task !== undefined) return stockOfTask({ agent, tools, overrides, task })
    const ofTools = stocks.get(tools) ?? new Map<Agent, WeakMap<Overrides, Stock>>()
    stocks.set(tools, ofTools)
    const ofAgent = ofTools.get(agent) ?? new WeakMap<Overrides, Stock>()
    ofTools.set(agent, ofAgent)
    const stock = ofAgent.get(overrides) ?? makeStock(settings, { agent, tools, overrides })
    ofAgent.set(overrides, stock)
    return stock
  }

  const ofTasks = new WeakMap<Task, { readonly wishes: Wishes; readonly stock: Stock }>()

  const stockOfTask = (wishes: Wishes & { readonly task: Task }): Stock => {
    const { agent, tools, overrides, task } = wishes
    const known = ofTasks.get(task)
    if (known?.wishes.agent === agent && known.wishes.tools === tools && known.wishes.overrides === overrides)
      return known.stock
    const stock = makeStock(settings, wishes)
    ofTasks.set(task, { wishes, stock })
    return stock
  }

  const { steerBatch, turnsPerActivity } = settings.limits
  const boundsOf = ({ steps = Number.POSITIVE_INFINITY }: Agent): TurnBounds => ({
    steerBatch,
    turnsPerActivity,
    steps,
  })

  return {
    choose: (transcript, location, moment) =>
      Effect.gen(function* () {
        const choice = choiceOf(transcript)
        const agent = yield* findAgent(settings, choice.agent)
        const { model, variant, settings: chosen } = yield* findModel(settings, choice.model ?? agent.model)
        const tools = yield* location.tools
        const bounds = boundsOf(agent)
        const { isLast, overrides } =
          moment === undefined ? withoutMoment(transcript) : outlookOf(transcript, moment, bounds)
        const offer = offerFrom(stockOf(agent, tools, overrides, transcript.choices.task), {
          isLast,
          bySchema: model.answersBySchema,
        })
        const merged = mergeSettings([agent.settings, chosen, overrides.settings])
        return {
          agent,
          model,
          variant,
          choice,
          bounds,
          isLast,
          overrides,
          settings: merged,
          hooks: location.hooks(),
          window: {
            contextWindow: model.contextWindow,
            maxOutput: Math.min(model.maxOutput, merged.maxOutputTokens ?? model.maxOutput),
          },
          ...offer,
          hosted:
            model.hosted === undefined || isLast || offer.answer === "native"
              ? undefined
              : hostedOf(model.hosted, { agent, overrides, ...offer }),
        }
      }),
  }
}

const choiceOf = ({ choices }: Transcript): Choice => ({ agent: choices.agent, model: choices.model })

/** For the continuation of a turn that has begun. */
const withoutMoment = ({ activity }: Transcript): Pick<Outlook, "isLast" | "overrides"> => ({
  isLast: false,
  overrides: overridesAhead(activity, []),
})

interface Wishes {
  readonly agent: Agent
  readonly tools: ToolSet
  readonly overrides: Overrides
  readonly task?: Task
}

type Task = NonNullable<Transcript["choices"]["task"]>

/** An agent that is no longer configured may do nothing. */
const DENY_ALL: readonly PermissionRule[] = [{ action: "*", resource: "*", effect: "deny" }]

const ceilingsOf = (settings: SettingsValue, task: Task | undefined): Cast["ceilings"] =>
  (task?.agents ?? []).map((name) => {
    const agent = settings.agents.get(name)
    return agent === undefined ? DENY_ALL : settings.rules.concat(agent.rules)
  })

const makeStock = (settings: SettingsValue, wishes: Wishes): Stock => {
  const ceilings = ceilingsOf(settings, wishes.task)
  const offer = makeOffer([...settings.rules, ...wishes.agent.rules], ceilings, wishes)
  const { format } = wishes.overrides
  if (format === undefined) return { offer, wanted: undefined }
  const wanted = openWantedAnswer(format, settings.openValueCheck)
  return {
    offer,
    wanted: { beside: withAnswer(offer, wanted), alone: withAnswer({ ...offer, ...NO_TOOLS }, wanted) },
  }
}

const withAnswer = (offer: Offer, { tool }: WantedAnswer): Offer => {
  const { name } = tool.advertisement
  return {
    ...offer,
    answer: "tool",
    advertisements: [...offer.advertisements.filter((one) => one.name !== name), tool.advertisement],
    call: (called, input, scene) =>
      called === name ? tool.execute(input, scene) : offer.call(called, input, scene),
  }
}

/** On the last turn nothing is offered, except a way to give the value when one is wanted. */
const offerFrom = (
  { offer, wanted }: Stock,
  { isLast, bySchema }: { readonly isLast: boolean; readonly bySchema: boolean },
): Offer => {
  if (wanted === undefined) return isLast ? { ...offer, ...NO_TOOLS } : offer
  if (!isLast && offer.advertisements.length > 0) return wanted.beside
  return bySchema ? { ...offer, ...NO_TOOLS, answer: "native" } : wanted.alone
}

type Named = Pick<Wishes, "agent" | "overrides">

const isNamed = ({ agent, overrides }: Named, name: string): boolean =>
  saysOfTool(overrides, name) ??
  (agent.tools === undefined || agent.tools.some((pattern) => matchesWildcard(pattern, name)))

/** Nobody can be asked about a call that the provider runs. A wanted hosted tool is offered unless it is denied. */
const hostedOf = (
  names: readonly string[],
  wishes: Named & Pick<Offer, "rules" | "ceilings" | "toolNames">,
): readonly string[] | undefined => {
  const offered = names.filter(
    (name) =>
      isNamed(wishes, name) &&
      ![wishes.rules, ...wishes.ceilings].some((rules) => isDeniedEverywhere(rules, name)) &&
      // One of our tools with the same name takes precedence.
      !wishes.toolNames.includes(name),
  )
  return offered.length === 0 ? undefined : offered
}

const makeOffer = (
  rules: readonly PermissionRule[],
  ceilings: Cast["ceilings"],
  { agent, tools, overrides, task }: Wishes,
): Offer => {
  const sets = [rules, ...ceilings]
  const advertisements = tools.advertisements.filter(
    ({ name }) =>
      isNamed({ agent, overrides }, name) &&
      task?.tools?.includes(name) !== false &&
      !sets.some((set) => isDeniedEverywhere(set, tools.traitsOf(name).action ?? name)),
  )
  const offered = new Set(advertisements.map((tool) => tool.name))
  return {
    rules,
    ceilings,
    answer: undefined,
    toolNames: [...offered],
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

const NO_TOOLS: Pick<Offer, "advertisements" | "call"> = {
  advertisements: [],
  call: (name) => Promise.reject(notOffered(name, [])),
}
