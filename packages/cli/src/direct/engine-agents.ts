/**
 * The engine's agents in this project: its profiles, changed and joined by the tables of `config.toml`, so that a
 * session finds its agent wherever it is opened.
 */
import { PLAN_RULES, type AgentConfig } from "@meridian/engine"
import { readAgentProfiles, readConfig, type AgentRow, type World } from "@meridian/spaces"

import { settingsOfRow } from "../models/settings-row.ts"
import { READ_ONLY_NEVER } from "./permission-rules.ts"

export const loadEngineAgents = async (world: World): Promise<readonly AgentConfig[]> => {
  const [profiles, { tables }] = await Promise.all([readAgentProfiles(world), readConfig(world)])
  const rows = tables?.agents ?? new Map<string, AgentRow>()
  const ofFiles = profiles.map(({ name, body, permission }): AgentConfig => ({
    name,
    prompt: body,
    // A profile may restrict itself. Going beyond the launch's rules takes a person's --permission.
    permissions: name === "plan" ? PLAN_RULES : permission === "read-only" ? READ_ONLY_NEVER : [],
  }))
  const known = new Set(ofFiles.map(({ name }) => name))
  const added = [...rows.keys()]
    .filter((name) => !known.has(name))
    .map((name): AgentConfig => (name === "plan" ? { name, permissions: PLAN_RULES } : { name }))
  return [...ofFiles, ...added].map((agent) => withRow(agent, rows.get(agent.name)))
}

const withRow = (agent: AgentConfig, row: AgentRow | undefined): AgentConfig => {
  if (row === undefined) return agent
  const { description, prompt, tools, permissions = [], model, steps, mode, hidden, recovery } = row
  const before = agent.permissions ?? []
  return {
    ...agent,
    // A profile's own restrictions come last, so they win.
    permissions: before === READ_ONLY_NEVER ? [...permissions, ...before] : [...before, ...permissions],
    settings: settingsOfRow(row),
    ...(description === undefined ? {} : { description }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(tools === undefined ? {} : { tools }),
    ...(model === undefined ? {} : { model }),
    ...(steps === undefined ? {} : { steps }),
    ...(mode === undefined ? {} : { mode }),
    ...(hidden === undefined ? {} : { hidden }),
    ...(recovery === undefined ? {} : { recovery }),
  }
}
