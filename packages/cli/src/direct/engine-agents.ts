/** The agent profiles of this project as agents of an engine, so that a session finds its agent wherever it is opened. */
import { PLAN_RULES, type AgentConfig } from "@meridian/engine"
import { readAgentProfiles, type World } from "@meridian/spaces"

import { READ_ONLY_NEVER } from "./permission-rules.ts"

export const loadEngineAgents = async (world: World): Promise<readonly AgentConfig[]> => {
  const profiles = await readAgentProfiles(world)
  return profiles.map(({ name, body, permission }) => ({
    name,
    prompt: body,
    // A profile may bind itself. What it may do beyond the rules of the launch takes a person's --permission.
    permissions: name === "plan" ? PLAN_RULES : permission === "read-only" ? READ_ONLY_NEVER : [],
  }))
}
