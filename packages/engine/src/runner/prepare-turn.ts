/** Resolves what a turn needs before anything becomes visible: the agent, the model, the tools it may see. */
import { Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { isDeniedEverywhere } from "../domain/permission.ts"
import type { PromptMessage } from "../domain/prompt.ts"
import type { ToolAdvertisement } from "../port/model.ts"
import { ToolError } from "../port/tool.ts"
import { attempt } from "./attempt.ts"
import type { Runtime } from "./drain.ts"
import type { LocationServices } from "./locations.ts"
import { DEFAULT_AGENT, type Agent, type Settings } from "./settings.ts"
import type { TurnScene } from "./turn.ts"

export interface PreparedTurn {
  /** Called after promotion: the request shows what is visible by then. */
  readonly turn: () => Pick<TurnScene, "agent" | "rules" | "project" | "model" | "request" | "tools">
}

export const prepareTurn = (
  runtime: Runtime,
  place: {
    readonly sessionID: string
    readonly fence: { readonly key: number }
    readonly directory: string
    readonly location: LocationServices
  },
): Effect.Effect<PreparedTurn, Failure> =>
  Effect.gen(function* () {
    const { settings, histories } = runtime
    const { sessionID, fence, directory, location } = place
    const history = histories.current({ id: sessionID, key: fence.key })
    const agent = yield* attempt(() => resolveAgent(settings, history.transcript.agent()))
    const model = yield* attempt(() => resolveModel(settings, history.transcript.model() ?? agent.model))
    const tools = yield* Effect.promise(() => location.tools())
    const rules = [...settings.rules, ...agent.rules]
    const shown = tools.advertisements.filter((tool) => !isDeniedEverywhere(rules, actionOf(tool.name)))
    const names = new Set(shown.map((tool) => tool.name))
    return {
      turn: () => {
        const current = histories.current({ id: sessionID, key: fence.key })
        return {
          agent: agent.name,
          rules,
          project: directory,
          model,
          request: {
            prompt: [
              ...systemPrompt(agent, directory),
              ...current.lowering.prompt(current.transcript.items, model.id),
            ],
            tools: shown,
            sessionID,
            ...(model.maxOutput > 0 ? { maxOutputTokens: model.maxOutput } : {}),
          },
          tools: {
            call: (name, input, scene) =>
              names.has(name) ? tools.call(name, input, scene) : Promise.reject(notOffered(name, shown)),
          },
        }
      },
    }
  })

const notOffered = (name: string, shown: readonly ToolAdvertisement[]): ToolError =>
  new ToolError(
    "unknown-tool",
    `There is no tool ${name} here. Available: ${shown.map((tool) => tool.name).join(", ")}.`,
  )

const resolveAgent = (settings: Settings, name: string | undefined): Agent => {
  const agent = settings.agents.get(name ?? DEFAULT_AGENT)
  if (agent === undefined)
    throw new Failure("AGENT_NOT_FOUND", {
      agent: name ?? DEFAULT_AGENT,
      known: [...settings.agents.keys()].join(", "),
    })
  return agent
}

const resolveModel = (settings: Settings, id: string | undefined) => {
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
  glob: "read",
  grep: "read",
  edit: "edit",
  write: "edit",
  apply_patch: "edit",
}

const systemPrompt = (agent: Agent, directory: string): readonly PromptMessage[] => [
  {
    role: "system",
    content: [
      ...(agent.prompt === undefined ? [] : [agent.prompt]),
      `You are a coding agent. You work in ${directory} with the tools you are given; paths are relative to it.`,
    ].join("\n\n"),
  },
]
