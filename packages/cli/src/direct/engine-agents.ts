/** The agent profiles of this project as agents of an engine, so that a session finds its agent wherever it is opened. */
import type { AgentConfig } from "@meridian/engine"
import { readAgentProfiles, type World } from "@meridian/spaces"

import { PLAN_RULES, READ_ONLY_NEVER } from "./permission-rules.ts"

export const loadEngineAgents = async (world: World): Promise<readonly AgentConfig[]> => {
  const profiles = await readAgentProfiles(world)
  const agents = profiles.map(({ name, body, permission }) => ({
    name,
    prompt: body,
    // A profile may bind itself. What it may do beyond the rules of the launch takes a person's --permission.
    permissions: name === PLAN ? PLAN_RULES : permission === "read-only" ? READ_ONLY_NEVER : [],
  }))
  return agents.some(({ name }) => name === PLAN)
    ? agents
    : [...agents, { name: PLAN, prompt: PLAN_PROMPT, permissions: PLAN_RULES }]
}

const PLAN = "plan"

const PLAN_PROMPT =
  "You are in plan mode: study the code and propose a plan. Do not change files and run no commands; tools that would are refused."
