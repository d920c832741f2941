/** Reads agents from a program or a file: checked completely, and completed from the built-in agent of the same name. */
import {
  BOOLEAN,
  CAPS,
  Failure,
  integer,
  listOf,
  objectOf,
  oneOf,
  reader,
  RECOVERY,
  REQUEST_SETTINGS,
  REQUEST_SETTINGS_FIELDS,
  STRING,
  text,
  type RequestSettings,
} from "@meridian/protocol"

import type { AgentConfig } from "./api.ts"
import { BUILT_IN_AGENTS } from "./built-in-agents.ts"
import { present } from "./check-input.ts"
import { LIMITS } from "./domain/limits.ts"
import { PERMISSION_RULE } from "./domain/permission.ts"
import { checkSettings, mergeSettings, settingsOf } from "./domain/request-settings.ts"
import { isForPeople, type Agent } from "./session/index.ts"

const NAME = text({ least: 1 })

const AGENT = objectOf(
  { name: NAME },
  {
    description: STRING,
    prompt: STRING,
    permissions: listOf(PERMISSION_RULE),
    tools: listOf(NAME, LIMITS.agentTools),
    model: STRING,
    steps: integer(1, Number.MAX_SAFE_INTEGER),
    mode: oneOf("primary", "sub", "all"),
    hidden: BOOLEAN,
    recovery: RECOVERY,
    budget: CAPS,
    settings: REQUEST_SETTINGS,
    ...REQUEST_SETTINGS_FIELDS,
  },
)

/** By name, built-in ones first. Throws INVALID_INPUT. */
export const readAgents = (configured: readonly AgentConfig[] = []): ReadonlyMap<string, Agent> => {
  const agents = new Map<string, Agent>(BUILT_IN_AGENTS.map((agent) => [agent.name, agent]))
  for (const config of configured) {
    const agent = readAgent(config, agents.get(config.name))
    agents.set(agent.name, agent)
  }
  return agents
}

/** An agent as lists show it. */
export interface AgentSummary {
  readonly name: string
  readonly description?: string
  readonly model?: string
}

/** Agents that people choose from, built-in ones first. Throws INVALID_INPUT. */
export const agentsForPeople = (configured?: readonly AgentConfig[]): readonly AgentSummary[] =>
  [...readAgents(configured).values()].filter(isForPeople).map(summaryOf)

/** Agents that other agents may call. */
export const callableAgents = (configured?: readonly AgentConfig[]): readonly AgentSummary[] =>
  [...readAgents(configured).values()]
    .filter(({ mode, hidden }) => mode !== "primary" && !hidden)
    .map(summaryOf)

const summaryOf = ({ name, description, model }: Agent): AgentSummary => ({
  name,
  ...(description === undefined ? {} : { description }),
  ...(model === undefined ? {} : { model }),
})

const readAgent = (config: AgentConfig, before: Agent | undefined): Agent => {
  const what = `Agent "${config.name}"`
  const fail = (problem: string): Failure => new Failure("INVALID_INPUT", { what: `${what}: ${problem}` })
  const read = reader(AGENT, { what: "it", fail })(present(config))
  const {
    name,
    description,
    prompt,
    permissions,
    tools,
    model,
    steps,
    mode,
    hidden,
    recovery,
    budget,
    settings,
  } = read
  const own: RequestSettings = mergeSettings([settings, settingsOf(read)])
  return {
    ...before,
    name,
    rules: permissions ?? before?.rules ?? [],
    settings: checkSettings(own, what),
    mode: mode ?? before?.mode ?? "all",
    hidden: hidden ?? before?.hidden ?? false,
    ...(description === undefined ? {} : { description }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(tools === undefined ? {} : { tools }),
    ...(model === undefined ? {} : { model }),
    ...(steps === undefined ? {} : { steps }),
    ...(recovery === undefined ? {} : { recovery }),
    ...(budget === undefined ? {} : { caps: budget }),
  }
}
