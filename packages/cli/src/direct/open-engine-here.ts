/**
 * An engine on the state of the project a command works in: its models, its agents, its database. Many processes share the
 * database: each takes over nothing but the sessions it names, so that no run ever works on the prompts of another.
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
  /** As Claude writes them; they replace what the tier allows. */
  readonly allowedTools?: readonly string[]
  readonly maxTurns?: number
  /** Commands work in a sandbox with, or without, the network. Absent: what the configuration says. */
  readonly sandbox?: "on" | "off"
  /** The agent of the launch, made ready by the launcher. */
  readonly agent?: AgentConfig
  readonly instructions?: string
  readonly mcp?: EngineOptions["mcp"]
  /** Names of servers whose tools are meant to be used without asking. */
  readonly trustedServers?: readonly string[]
  /** What a lost process left in these sessions is settled; nothing is gone on with before it is asked for. */
  readonly recover: readonly string[]
  /** Whether work that was cut off stays the same activity: where nobody sits in front of it, and it is asked for again. */
  readonly recovery?: RecoveryPolicy
}

export interface EngineHere {
  readonly engine: Engine
  /** The wished one as the engine names it. */
  readonly model: string | undefined
  readonly models: readonly ModelConfig[]
  readonly defaultModel: string
  /** Models that are known and cannot be used now. */
  readonly unusable: readonly { readonly id: string; readonly why: string }[]
  /** Those people choose from. */
  readonly agents: readonly string[]
  /** Also one that no list shows. */
  readonly isAgent: (name: string) => boolean
}

/** Throws a Failure for everything that can be said in a sentence; nothing is left open then. */
export const openEngineHere = async (wish: EngineWish, world: World): Promise<EngineHere> => {
  const {
    models,
    unusable,
    defaultModel = models[0]?.id ?? "",
  } = await loadEngineModels(world, {
    // A model nobody listed is one all the same, and one that cannot be used says why.
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
      // Neither a run nor the conversation on a terminal shows questions of tools.
      { action: "question", resource: "*", effect: "deny" },
    ],
    agents,
    mcp: withServers(configured.mcp, wish.mcp),
    // Always there, so that a continued session is told when its standing text changed or went away.
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
    // A limit ends the run, as it does with every other harness: who started it decides when to come back.
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

/** Turns in a row before the engine gives up: others of its kind have no such bound at all. */
const MOST_TURNS = 500

const BUILT_IN: ReadonlySet<string> = new Set(["build", "plan"])

/** The profile of the launch as the launcher made it ready, then those a person may change to. */
const agentsOf = async ({ agent }: EngineWish, world: World): Promise<readonly AgentConfig[]> => {
  const profiles = await loadEngineAgents(world)
  if (agent === undefined) return profiles
  // What binds an agent of that name binds it here, too.
  const { permissions = [] } = profiles.find(({ name }) => name === agent.name) ?? {}
  return [{ ...agent, permissions }, ...profiles.filter(({ name }) => name !== agent.name)]
}

export const idsOf = (models: readonly ModelConfig[]): readonly string[] => models.map(({ id }) => id)

/** A model that cannot be told how long to think does not mind. */
const withEffort = (models: readonly ModelConfig[], effort: Effort | undefined): readonly ModelConfig[] =>
  effort === undefined ? models : models.map((model) => ({ ...model, effort }))
