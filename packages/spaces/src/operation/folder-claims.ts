/**
 * What a folder would decide besides its configuration: agents that ask for rights, and files through which a harness
 * runs the folder's programs. A person who is asked to trust the folder sees them. The rights of such agents are held
 * to the ceiling in any case; what a harness does with its own files is its own decision.
 */
import { lstatSync } from "node:fs"
import { join, relative } from "node:path"

import type { AgentProfile } from "../domain/agent-profile.ts"
import type { Claim } from "../domain/claim.ts"
import type { Config } from "../domain/config-option.ts"
import type { StatePlace } from "../store/place.ts"
import { listAgents } from "../store/profiles.ts"

export const agentClaims = async (
  { project, root }: StatePlace,
  config: Config,
): Promise<readonly Claim[]> => {
  const { found } = await listAgents({
    project,
    root,
    home: undefined,
    config: { ...config, "search_paths.global_agents": [] },
  })
  return found.flatMap((profile) => agentClaim(profile, project) ?? [])
}

/** Undefined for an agent that asks for nothing. */
export const agentClaim = (profile: AgentProfile, project: string): Claim | undefined => {
  const { name, path, permission, allowedTools = [], servers, checks = [] } = profile
  const wishes = [
    ...(permission === undefined || permission === "read-only" ? [] : [permission]),
    ...(allowedTools.length === 0 ? [] : [`tools ${allowedTools.join(", ")}`]),
    ...(servers.length === 0 ? [] : [`servers ${servers.join(", ")}`]),
    ...(checks.length === 0 ? [] : [`checks ${checks.map((check) => JSON.stringify(check)).join(", ")}`]),
  ]
  if (wishes.length === 0) return undefined
  const shown = wishes.join("; ")
  return {
    kind: "agent",
    key: `agent ${name}`,
    value: JSON.stringify(shown),
    shown,
    where: relative(project, path),
  }
}

/** Each with the program that obeys it. */
const HOOK_FILES = {
  ".claude/settings.json": "Claude Code",
  ".claude/settings.local.json": "Claude Code",
  ".codex/config.toml": "Codex",
  ".codex/hooks.json": "Codex",
  ".opencode/plugin": "OpenCode",
  ".opencode/plugins": "OpenCode",
  "opencode.json": "OpenCode",
  "opencode.jsonc": "OpenCode",
  ".mcp.json": "Claude Code",
} as const

export const hookClaims = ({ project }: Pick<StatePlace, "project">): readonly Claim[] =>
  Object.entries(HOOK_FILES).flatMap(([file, harness]): readonly Claim[] => {
    if (lstatSync(join(project, file), { throwIfNoEntry: false }) === undefined) return []
    const shown = `${harness} may run what it names`
    return [{ kind: "hook", key: file, value: JSON.stringify(harness), shown, where: file }]
  })
