/**
 * The engine on the state of this project, with one session of it in hand. Many processes share the database: this one
 * takes over nothing but its own session, so that no run ever works on the prompts of another.
 */
import { join } from "node:path"

import {
  openEngine,
  type AgentConfig,
  type Effort,
  type Engine,
  type ModelConfig,
  type SessionInfo,
} from "@meridian/engine"
import { Failure } from "@meridian/protocol"
import { keepOutOfGit, makePrivate } from "@meridian/server"
import { engineModelId, openPlace, type PermissionTier, type World } from "@meridian/spaces"

import { loadEngineModels } from "../models/load-engine-models.ts"
import { loadEngineAgents } from "./engine-agents.ts"
import type { LaunchFile } from "./launch-file.ts"
import { permissionRules } from "./permission-rules.ts"

export interface DirectLaunch {
  readonly session:
    | { readonly kind: "new"; readonly id: string }
    | { readonly kind: "continue"; readonly id: string }
    | { readonly kind: "fork"; readonly from: string; readonly id: string }
  readonly model?: string
  readonly effort?: Effort
  readonly permission?: PermissionTier
  readonly maxTurns?: number
  readonly file: LaunchFile
  /** What was asked for and cannot be had. */
  readonly notices: readonly string[]
}

export interface OpenSession {
  readonly engine: Engine
  readonly session: SessionInfo
  readonly models: readonly ModelConfig[]
  readonly defaultModel: string
  /** Models that are known and cannot be used now. */
  readonly unusable: readonly { readonly id: string; readonly why: string }[]
  readonly agents: readonly string[]
  /** What the person should know before the first word. */
  readonly notices: readonly string[]
}

/** Turns in a row before the engine gives up: others of its kind have no such bound at all. */
const MOST_TURNS = 500

/** Throws a Failure for everything that can be said in a sentence; nothing is left open then. */
export const openSession = async (launch: DirectLaunch, world: World): Promise<OpenSession> => {
  const {
    models,
    unusable,
    defaultModel = models[0]?.id ?? "",
  } = await loadEngineModels(world, {
    // A model nobody listed is one all the same, and one that cannot be used says why.
    wanted: launch.model?.includes("/") === true ? [launch.model] : [],
  })
  const model = launch.model === undefined ? undefined : engineModelId(idsOf(models), launch.model)
  const { root } = openPlace(world.env, world.cwd)
  keepOutOfGit(root)
  makePrivate(join(root, "engine.sqlite"))
  const { file } = launch
  const { instructions } = file
  const agents = await agentsOf(file, world)
  const engine = await openEngine({
    database: join(root, "engine.sqlite"),
    models: withEffort(models, launch.effort),
    ...(defaultModel === "" ? {} : { model: defaultModel }),
    permissions: permissionRules({
      servers: file.mcpServers.map((server) => server.name),
      ...(launch.permission === undefined ? {} : { permission: launch.permission }),
      ...(file.allowedTools === undefined ? {} : { allowedTools: file.allowedTools }),
    }),
    agents,
    mcp: file.mcpServers,
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
    limits: { turnsPerActivity: launch.maxTurns ?? MOST_TURNS },
    recover: [launch.session.id],
  })
  try {
    const names = [...new Set([...BUILT_IN, ...agents.map(({ name }) => name)])]
    const { session, notices } = await enter(engine, launch, { model, agents: names, world })
    return {
      engine,
      session,
      models,
      unusable,
      defaultModel,
      agents: names,
      notices: [
        ...launch.notices,
        ...notices,
        ...(launch.model === undefined ? echoes(session.model ?? defaultModel) : []),
      ],
    }
  } catch (error) {
    await engine.close()
    throw error
  }
}

const BUILT_IN = ["build", "plan"]

/** The profile of the launch as the launcher made it ready, then those a person may change to. */
const agentsOf = async ({ agent }: LaunchFile, world: World): Promise<readonly AgentConfig[]> => {
  const profiles = await loadEngineAgents(world)
  if (agent === undefined) return profiles
  return [{ name: agent.name, prompt: agent.body }, ...profiles.filter(({ name }) => name !== agent.name)]
}

export const idsOf = (models: readonly ModelConfig[]): readonly string[] => models.map(({ id }) => id)

/** A model that cannot be told how long to think does not mind. */
const withEffort = (models: readonly ModelConfig[], effort: Effort | undefined): readonly ModelConfig[] =>
  effort === undefined ? models : models.map((model) => ({ ...model, effort }))

const echoes = (model: string): readonly string[] =>
  model === "meridian/echo"
    ? [
        "No model is set up: meridian/echo only repeats what it is told. Set ANTHROPIC_API_KEY or another key; 'meridian models list' shows which.",
      ]
    : []

interface Cast {
  readonly model: string | undefined
  readonly agents: readonly string[]
  readonly world: World
}

const enter = async (
  engine: Engine,
  launch: DirectLaunch,
  { model, agents, world }: Cast,
): Promise<Pick<OpenSession, "session" | "notices">> => {
  const { sessions } = engine
  const session = await obtain(engine, launch.session, { model, world })
  const { id } = session
  await requireIdle(engine, id)
  const notices: string[] = []
  const agent = launch.file.agent?.name ?? (agents.includes(session.agent) ? session.agent : "build")
  if (agent !== session.agent) {
    await sessions.switchAgent({ sessionID: id, agent })
    if (launch.file.agent === undefined)
      notices.push(`The agent ${session.agent} is not here any more; ${agent} goes on.`)
  }
  if (model !== undefined && model !== session.model) await sessions.switchModel({ sessionID: id, model })
  return { session: await sessions.get(id), notices }
}

const obtain = (
  { sessions }: Engine,
  choice: DirectLaunch["session"],
  { model, world }: Pick<Cast, "model" | "world">,
): Promise<SessionInfo> => {
  const { cwd: directory } = world
  switch (choice.kind) {
    case "new":
      return sessions.create({
        id: choice.id,
        location: { directory },
        ...titleOf(world),
        // Its first model is no change of one.
        ...(model === undefined ? {} : { model }),
      })
    case "continue":
      return sessions.get(choice.id)
    case "fork":
      return sessions.fork({ sessionID: choice.from, id: choice.id })
  }
}

/** Lists of sessions say which run or chat each belongs to. */
const titleOf = ({ env }: World): { readonly title?: string } => {
  const [space = "", run = "", chat = ""] = ["SPACE_ID", "PARENT_RUN_ID", "CHAT_ID"].map(
    (name) => env[`MERIDIAN_${name}`] ?? "",
  )
  if (space === "" || (run === "" && chat === "")) return {}
  return { title: `${space}: ${run === "" ? `chat ${chat}` : `run ${run}`}` }
}

/** A process that is just ending gives its session back within this time. */
const IDLE_WITHIN_MS = 3_000

const requireIdle = async ({ sessions }: Engine, sessionID: string): Promise<void> => {
  const late = AbortSignal.timeout(IDLE_WITHIN_MS)
  try {
    await sessions.wait(sessionID, { signal: late })
  } catch (error) {
    if (late.aborted) throw new Failure("SESSION_IN_USE", { session: sessionID }, { cause: error })
    throw error
  }
}
