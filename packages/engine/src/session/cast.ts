/** Who takes part in a turn: agent, model, tools and rules. Chosen anew for every turn, before anything becomes visible. */
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
  /** The settings of the model that the session or the agent named. */
  readonly variant: string | undefined
  /** Of the agent, the variant and the inputs. */
  readonly settings: RequestSettings
  /** Tokens of a request and its answer, and of the answer alone. */
  readonly window: { readonly contextWindow: number; readonly maxOutput: number }
  /** How many turns it may take. */
  readonly bounds: TurnBounds
  /** It is told to wrap up, and gets no tools. */
  readonly isLast: boolean
  /** What the inputs of the activity change about its requests. */
  readonly overrides: Overrides
  /** How the value is given that they ask for: by a tool of its own, or as all that the model says. */
  readonly answer: "tool" | "native" | undefined
  /** What the session had chosen when this was made; a switch since then makes it outdated. */
  readonly choice: Choice
  readonly rules: readonly PermissionRule[]
  /** Of those it works for: what one of them may not, it may not. */
  readonly ceilings: readonly (readonly PermissionRule[])[]
  /** What the agent may use at all, by name. */
  readonly toolNames: readonly string[]
  /** What the model is offered. */
  readonly advertisements: readonly ToolAdvertisement[]
  /** What its provider runs itself. */
  readonly hosted: readonly string[] | undefined
  /** The offered tools; any other is refused. */
  readonly call: ToolSet["call"]
  readonly traitsOf: TraitsOf
  /** Of the extensions that were there when the turn began. */
  readonly hooks: ActiveHooks | undefined
}

interface Choice {
  readonly agent: string | undefined
  readonly model: string | undefined
}

export class Casting extends Context.Service<
  Casting,
  {
    /** Without a moment: for what goes on with a turn that has begun. */
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

/** Without a name the default one. */
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

/** What may be offered, before it is known which model is asked and whether it is the last time. */
interface Stock {
  readonly offer: Offer
  /** With the tool that takes the value, and that one alone. */
  readonly wanted: { readonly beside: Offer; readonly alone: Offer } | undefined
}

const makeCasting = (settings: SettingsValue): Casting["Service"] => {
  /** Neither the tools of a Location nor the agents nor what a prompt wants change from turn to turn. */
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

/** For what goes on with a turn that has begun. */
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

/** What no configured agent is any more may do nothing. */
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

/** The last time nothing is offered but a way to give the value, where one is wanted. */
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

/** Nobody can be asked about a call that the provider runs: what is wanted of the model is offered unless it is denied. */
const hostedOf = (
  names: readonly string[],
  wishes: Named & Pick<Offer, "rules" | "ceilings" | "toolNames">,
): readonly string[] | undefined => {
  const offered = names.filter(
    (name) =>
      isNamed(wishes, name) &&
      ![wishes.rules, ...wishes.ceilings].some((rules) => isDeniedEverywhere(rules, name)) &&
      // A tool of ours that has the name is the one that was meant.
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
