/** One launch of an agent that speaks the Agent Client Protocol, and the session it works in. */
import { Failure } from "@meridian/protocol"
import { openAgent, type OpenAgentOptions, type OpenedAgent } from "@meridian/server"
import type { PermissionTier, World } from "@meridian/spaces"

import { VERSION } from "../version.ts"

export interface AgentLaunch {
  readonly name: string
  readonly command: readonly [string, ...(readonly string[])]
  /** Empty: a person begins. */
  readonly firstMessage: string
  /** The session to continue. */
  readonly session?: string
  readonly model?: string
  readonly permission?: PermissionTier
}

export interface AgentSession {
  readonly agent: OpenedAgent
  readonly id: string
}

/** Throws ACP_AGENT_FAILED and leaves nothing behind. */
export const openAgentSession = async (
  launch: AgentLaunch,
  world: World,
  hears: Pick<OpenAgentOptions, "onUpdate" | "answer">,
): Promise<AgentSession> => {
  const { name, command, model } = launch
  const agent = await openAgent({ name, command, cwd: world.cwd, env: world.env, version: VERSION, ...hears })
  try {
    const id = await agent.open(launch.session)
    if (model !== undefined && !(await agent.chooseModel(id, model)))
      throw new Failure("ACP_AGENT_FAILED", { name, why: "does not let its model be chosen" })
    return { agent, id }
  } catch (error) {
    await agent.close()
    throw error
  }
}
