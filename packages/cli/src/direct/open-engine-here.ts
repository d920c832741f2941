/**
 * An engine on the state of the current project: its models, its agents, its database. Many processes share the
 * database. Each only takes over the sessions it names, so that no run ever works on the prompts of another.
 */
import {
  agentsForPeople,
  openEngine,
  type AgentConfig,
  type Effort,
  type Engine,
  type EngineOptions,
  type ModelConfig,
} from "@meridian/engine"
import type { RecoveryPolicy } from "@meridian/protocol"
import {
  engineModelId,
  namesOfModel,
  isTrusted,
  openPlace,
  readConfig,
  type PermissionTier,
  type World,
} from "@meridian/spaces"

import { openDatabase } from "../engine-database.ts"
import { addExtensions } from "../extension/load-extensions.ts"
import { loadEngineModels } from "../models/load-engine-models.ts"
import { openTelemetry, withTelemetry } from "../telemetry.ts"
import { loadConfiguredEngine, withServers } from "./configured-engine.ts"
import { loadEngineAgents } from "./engine-agents.ts"
import { permissionRules } from "./permission-rules.ts"
import { wrapperFor } from "./wrapper-for.ts"

export interface EngineWish {
  readonly model?: string
  readonly effort?: Effort
  readonly permission?: PermissionTier
  /** As Claude writes them. They replace what the tier allows. */
  readonly allowedTools?: readonly string[]
  readonly maxTurns?: number
  /** Commands run in a sandbox with, or without, the network. Absent: the configuration decides. */
  readonly sandbox?: "on" | "off"
  /** The agent of the launch, prepared by the launcher. */
  readonly agent?: AgentConfig
  readonly instructions?: string
  readonly mcp?: EngineOptions["mcp"]
  /** Names of servers whose tools may be used without asking. */
  readonly trustedServers?: readonly string[]
  /** What a lost process left in these sessions is settled, but nothing resumes until it is asked to. */
  readonly recover: readonly string[]
  /** Whether interrupted work stays the same activity: for sessions without a person, whose work is demanded again. */
  readonly recovery?: RecoveryPolicy
  /** Somebody sees the questions of tools, and answers them. */
  readonly asksPeople?: boolean
}

export interface EngineHere {
  readonly engine: Engine
  /** The requested model, by the engine's name. */
  readonly model: string | undefined
  readonly models: readonly ModelConfig[]
  readonly defaultModel: string
  /** Known models that cannot be used now. */
  readonly unusable: readonly { readonly id: string; readonly why: string }[]
  /** The agents people choose from. */
  readonly agents: readonly string[]
  /** True even for an agent that no list shows. */
  readonly isAgent: (name: string) => boolean
}

/** Throws a Failure for every problem that fits a sentence, and then leaves nothing open. */
export const openEngineHere = async (wish: EngineWish, world: World): Promise<EngineHere> => {
  const {
    models,
    unusable,
    defaultModel = models[0]?.id ?? "",
  } = await loadEngineModels(world, {
    // An unlisted model still counts as a model, and an unusable one says why.
    wanted: wish.model?.includes("/") === true ? [wish.model] : [],
  })
  const model = wish.model === undefined ? undefined : engineModelId(models.flatMap(namesOfModel), wish.model)
  const agents = await agentsOf(wish, world)
  const { instructions } = wish
  const database = await openDatabase(undefined, world)
  const configured = await loadConfiguredEngine(world)
  const { config } = await readConfig(world)
  const wrapCommand = await wrapperFor(wish.sandbox, config, world)
  const place = openPlace(world.env, world.cwd)
  const engine = await openEngine({
    ...configured.options,
    ...(wrapCommand === undefined ? {} : { wrapCommand }),
    database: database.file,
    models: withEffort(models, wish.effort),
    ...(defaultModel === "" ? {} : { model: defaultModel }),
    permissions: [
      ...permissionRules({
        guardInstructions: configured.guardInstructions,
        rules: configured.rules,
        servers: wish.trustedServers ?? [],
        isSandboxed: wrapCommand !== undefined,
        ...(wish.permission === undefined ? {} : { permission: wish.permission }),
        ...(wish.allowedTools === undefined ? {} : { allowedTools: wish.allowedTools }),
      }),
      // Only a conversation on a terminal shows questions of tools.
      ...(wish.asksPeople === true ? [] : [{ action: "question", resource: "*", effect: "deny" } as const]),
    ],
    agents,
    mcp: withServers(configured.mcp, wish.mcp),
    // Always present, so that a continued session learns when its standing text changed or went away.
    context: [
      {
        key: "meridian/instructions",
        observe: () => instructions ?? null,
        baseline: (text: string) => text,
        update: (_before: string, text: string) =>
          `Your standing instructions changed. They are now:\n\n${text}`,
        removed: "The standing instructions given before no longer apply.",
      },
    ],
    stateRoot: place.root,
    commands: { shell: isTrusted(place, world.env) },
    // A limit ends the run, as in every other harness: its launcher decides when to retry.
    limits: {
      turnsPerActivity: MOST_TURNS,
      patienceMs: 1,
      ...configured.limits,
      ...(wish.recovery === "continue" ? { patienceMs: 1 } : {}),
      ...(wish.maxTurns === undefined ? {} : { turnsPerActivity: wish.maxTurns }),
    },
    recover: database.isForeign ? false : wish.recover,
    recovery: wish.recovery ?? "settle",
    asksAgain: database.isForeign,
  })
  await addExtensions(engine, world)
  const telemetry = await openTelemetry(
    { engine, database: database.name, everySession: false },
    world,
    false,
  )
  return {
    engine: withTelemetry(engine, telemetry),
    model,
    models,
    unusable,
    defaultModel,
    agents: agentsForPeople(agents).map(({ name }) => name),
    isAgent: (name) => BUILT_IN.has(name) || agents.some((agent) => agent.name === name),
  }
}

/** Turns in a row before the engine gives up. Other harnesses have no such bound at all. */
const MOST_TURNS = 500

const BUILT_IN: ReadonlySet<string> = new Set(["build", "plan"])

/** The profile of the launch as the launcher prepared it, then those a person may change to. */
const agentsOf = async ({ agent }: EngineWish, world: World): Promise<readonly AgentConfig[]> => {
  const profiles = await loadEngineAgents(world)
  if (agent === undefined) return profiles
  // Restrictions of an agent with this name apply here too.
  const { permissions = [] } = profiles.find(({ name }) => name === agent.name) ?? {}
  return [{ ...agent, permissions }, ...profiles.filter(({ name }) => name !== agent.name)]
}

export const idsOf = (models: readonly ModelConfig[]): readonly string[] => models.map(({ id }) => id)

/** Harmless for a model without reasoning effort. */
const withEffort = (models: readonly ModelConfig[], effort: Effort | undefined): readonly ModelConfig[] =>
  effort === undefined ? models : models.map((model) => ({ ...model, effort }))
