/** The built-in agents. */
import type { PermissionRule } from "./domain/permission.ts"
import { NO_SETTINGS } from "./domain/request-settings.ts"
import { DEFAULT_AGENT, type Agent } from "./session/index.ts"
import { lookingRules } from "./tool/builtins.ts"

/**
 * `plan` looks and thinks, whatever else is allowed: an agent's rules are read last, and no approval lifts a denial. Tools
 * of MCP servers and embedders may act, so they are refused too.
 */
export const PLAN_RULES: readonly PermissionRule[] = [
  { action: "*", resource: "*", effect: "deny" },
  ...lookingRules("project"),
]

export const BUILT_IN_AGENTS: readonly Agent[] = [
  {
    name: DEFAULT_AGENT,
    description: "Works on the project with every tool it may use.",
    rules: [],
    settings: NO_SETTINGS,
    mode: "all",
    hidden: false,
  },
  {
    name: "plan",
    description: "Studies the code and proposes a plan; changes nothing.",
    prompt:
      "You are in plan mode: study the code and propose a plan. Do not change files and run no commands; tools that would are refused.",
    rules: PLAN_RULES,
    settings: NO_SETTINGS,
    mode: "all",
    hidden: false,
  },
]
