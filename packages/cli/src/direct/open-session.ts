/** One open session of the engine, on the state of this project. */
import type { Effort, Engine, ModelConfig, SessionInfo } from "@meridian/engine"
import { Failure, type Caps } from "@meridian/protocol"
import { ownTask, type LaunchFile, type PermissionTier, type World } from "@meridian/spaces"

import { openEngineHere, type EngineWish } from "./open-engine-here.ts"
import { runTitle } from "./session-title.ts"

export interface DirectLaunch {
  readonly session:
    | { readonly kind: "new"; readonly id: string }
    | { readonly kind: "continue"; readonly id: string }
    | { readonly kind: "fork"; readonly from: string; readonly id: string }
  readonly model?: string
  readonly effort?: Effort
  readonly permission?: PermissionTier
  /** The network of the sandbox its commands run in. */
  readonly sandbox?: "on" | "off"
  readonly maxTurns?: number
  readonly file: LaunchFile
  /** Requests that cannot be met. */
  readonly notices: readonly string[]
}

export interface OpenSession {
  readonly engine: Engine
  readonly session: SessionInfo
  readonly models: readonly ModelConfig[]
  readonly defaultModel: string
  /** Known models that cannot be used now. */
  readonly unusable: readonly { readonly id: string; readonly why: string }[]
  readonly agents: readonly string[]
  /** What the person should know before the first word. */
  readonly notices: readonly string[]
}

/** Throws a Failure for every problem that fits a sentence, and then leaves nothing open. */
export const openSession = async (
  launch: DirectLaunch,
  world: World,
  how: Pick<EngineWish, "recovery" | "asksPeople">,
): Promise<OpenSession> => {
  const here = await openEngineHere({ ...wishOf(launch), ...how }, world)
  const { engine, models, unusable, defaultModel, agents, isAgent } = here
  try {
    const { session, notices } = await enter(engine, launch, { model: here.model, isAgent, world })
    return {
      engine,
      session,
      models,
      unusable,
      defaultModel,
      agents,
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

const wishOf = ({
  model,
  effort,
  permission,
  sandbox,
  maxTurns,
  session,
  file,
}: DirectLaunch): Omit<EngineWish, "recovery"> => ({
  ...(model === undefined ? {} : { model }),
  ...(effort === undefined ? {} : { effort }),
  ...(permission === undefined ? {} : { permission }),
  ...(sandbox === undefined ? {} : { sandbox }),
  ...(maxTurns === undefined ? {} : { maxTurns }),
  ...(file.allowedTools === undefined ? {} : { allowedTools: file.allowedTools }),
  ...(file.agent === undefined ? {} : { agent: { name: file.agent.name, prompt: file.agent.body } }),
  ...(file.instructions === undefined ? {} : { instructions: file.instructions }),
  mcp: file.mcpServers ?? [],
  trustedServers: (file.mcpServers ?? []).map((server) => server.name),
  recover: [session.id],
})

const echoes = (model: string): readonly string[] =>
  model === "meridian/echo"
    ? [
        "No model is set up: meridian/echo only repeats what it is told. Set ANTHROPIC_API_KEY or another key; 'meridian models list' shows which.",
      ]
    : []

interface Cast {
  readonly model: string | undefined
  readonly isAgent: (name: string) => boolean
  readonly world: World
}

const enter = async (
  engine: Engine,
  launch: DirectLaunch,
  { model, isAgent, world }: Cast,
): Promise<Pick<OpenSession, "session" | "notices">> => {
  const { sessions } = engine
  const session = await obtain(engine, launch.session, { model, world })
  const { id } = session
  if (!(await isPaused(engine, session))) await requireIdle(engine, id)
  const notices: string[] = []
  const agent = launch.file.agent?.name ?? (isAgent(session.agent) ? session.agent : "build")
  if (agent !== session.agent) {
    await sessions.switchAgent({ sessionID: id, agent })
    if (launch.file.agent === undefined)
      notices.push(`The agent ${session.agent} no longer exists; ${agent} continues.`)
  }
  if (model !== undefined && model !== session.model) await sessions.switchModel({ sessionID: id, model })
  const entered = await sessions.get(id)
  if (launch.file.budget !== undefined) await allow(engine, id, launch.file.budget)
  return { session: entered, notices }
}

/** Raises the caps by this much, above what is used up by now. */
const allow = async ({ sessions }: Engine, sessionID: string, more: Caps): Promise<void> => {
  const { spent } = await sessions.budget(sessionID)
  const { maxCost, maxTokens, maxTurns, maxTimeMs } = more
  await sessions.setBudget({
    sessionID,
    ...(maxCost === undefined ? {} : { maxCost: spent.cost + maxCost }),
    ...(maxTokens === undefined ? {} : { maxTokens: spent.tokens + Math.ceil(maxTokens) }),
    ...(maxTurns === undefined ? {} : { maxTurns: spent.turns + Math.ceil(maxTurns) }),
    ...(maxTimeMs === undefined ? {} : { maxTimeMs: spent.timeMs + maxTimeMs }),
  })
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
        // The first model of a session does not count as a change.
        ...(model === undefined ? {} : { model }),
      })
    case "continue":
      return sessions.get(choice.id)
    case "fork":
      return sessions.fork({ sessionID: choice.from, id: choice.id })
  }
}

/** Lists of sessions show which run each belongs to, and what it is about. */
const titleOf = (world: World): { readonly title?: string } => {
  const { env } = world
  const { MERIDIAN_SPACE_ID: space = "", MERIDIAN_PARENT_RUN_ID: run = "" } = env
  return space === "" || run === "" ? {} : { title: runTitle(space, run, ownTask(world)) }
}

/** It waits for the answer to its own question, so no process works on it, and none will before that. */
const isPaused = async ({ questions }: Engine, { id, status }: SessionInfo): Promise<boolean> =>
  status === "waiting" && (await questions.list({ sessionID: id })).some(({ callID }) => callID === undefined)

/** A process that is just ending releases its session within this time. */
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
