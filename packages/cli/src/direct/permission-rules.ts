/**
 * A permission tier, or a list of allowed tools, as rules of the engine. Pure. The last rule that matches decides; what is
 * asked is a question on the terminal and, where nobody can answer, a refusal the model is told about.
 *
 * A tier allows only exact commands. A pattern of a list covers commands that are plain words and nothing more; the engine
 * reads it so (`domain/permission.ts`).
 */
import { lookingRules, type PermissionRule } from "@meridian/engine"
import { matchesWildcard } from "@meridian/protocol"
import type { PermissionTier } from "@meridian/spaces"

export interface Rights {
  /** Absent: a conversation in which everything but looking is asked. */
  readonly permission?: PermissionTier
  /** As Claude writes them: `Edit`, `Bash(npm test:*)`; they replace what the tier allows. */
  readonly allowedTools?: readonly string[]
  /** MCP servers of this launch: who offers one means it to be used. */
  readonly servers: readonly string[]
  /** Ask before instruction files are edited, too. */
  readonly guardInstructions?: boolean
  /** Of the configuration, read last. They lift neither what a reading run is refused nor what is guarded. */
  readonly rules?: readonly PermissionRule[]
  /** Commands work in a sandbox: then file tools change nothing that commands could not. */
  readonly isSandboxed?: boolean
}

export const permissionRules = (rights: Rights): readonly PermissionRule[] => [
  ...rulesOf(rights),
  ...(rights.isSandboxed === true ? SANDBOXED : []),
]

const rulesOf = ({
  permission,
  allowedTools,
  servers,
  guardInstructions = false,
  rules: own = [],
}: Rights): readonly PermissionRule[] => {
  if (permission === "danger") return [allow("*"), ...own]
  const offered = servers.map((server) => allow(`${toolPrefix(server)}_*`))
  const guards = permission === "full-access" ? [] : [...GUARDED, ...(guardInstructions ? INSTRUCTIONS : [])]
  const configured = permission === "read-only" ? own.filter(staysReading) : withGuards(own, guards)
  if (allowedTools === undefined)
    return [
      ...(permission === undefined ? [ASK_ALL, ...LOOKING] : TIERS[permission]),
      ...(permission === "workspace-write" ? guards : []),
      ...offered,
      ...configured,
    ]
  const rules = allowedTools.flatMap(rulesOfTool)
  return [
    ASK_ALL,
    ...OWN,
    ...(permission === "read-only" ? READ_ONLY_NEVER : []),
    ...rules,
    // Last, whatever the list names: a list may come with the folder.
    ...(rules.some(({ action }) => action === "edit" || action === "*") ? guards : []),
    ...offered,
    ...configured,
  ]
}

const staysReading = ({ action, effect }: PermissionRule): boolean =>
  effect === "deny" || !READ_ONLY_NEVER.some((never) => matchesWildcard(action, never.action))

/** A rule that allows edits is followed by the guards again; one that is denied before it stays denied. */
const withGuards = (
  rules: readonly PermissionRule[],
  guards: readonly PermissionRule[],
): readonly PermissionRule[] =>
  rules.flatMap((rule, index) => {
    const concernsEdits = rule.effect !== "deny" && matchesWildcard(rule.action, "edit")
    if (!concernsEdits) return [rule]
    const denied = rules
      .slice(0, index)
      .filter(({ effect, action }) => effect === "deny" && matchesWildcard(action, "edit"))
    return [
      rule,
      ...guards.map((guard) =>
        denied.some(({ resource }) => matchesWildcard(resource, guard.resource))
          ? deny(guard.action, guard.resource)
          : guard,
      ),
    ]
  })

/** As the engine names the tools of a server: another spelling would ask after all, or allow what was not meant. */
const toolPrefix = (server: string): string => {
  const plain = server.replaceAll(/[^A-Za-z0-9_-]/g, "_")
  return /^[A-Za-z]/.test(plain) ? plain : `mcp_${plain}`
}

const allow = (action: string, resource = "*"): PermissionRule => ({ action, resource, effect: "allow" })
const ask = (action: string, resource = "*"): PermissionRule => ({ action, resource, effect: "ask" })
const deny = (action: string, resource = "*"): PermissionRule => ({ action, resource, effect: "deny" })

const ASK_ALL = ask("*")

/** What touches nothing but the session itself; a child may do no more than its parent. */
const OWN = lookingRules("session")

const LOOKING = lookingRules("project")

/** Refused, not asked: an approval that was given elsewhere in the project must not lift it. */
export const READ_ONLY_NEVER = [deny("edit"), deny("bash"), deny("external_directory")]

/** Never unasked, in whatever tier but full access. A wildcard goes over folders. */
const guarded = (names: readonly string[]): readonly PermissionRule[] =>
  names.flatMap((name) => [name, `${name}/*`, `*/${name}`, `*/${name}/*`].map((path) => ask("edit", path)))

/** Agents' own files lie among ours: `fs` of a space. */
const OWN_FILES = [".meridian/.spaces/*/fs/*", "*/.meridian/.spaces/*/fs/*"].map((path) =>
  allow("edit", path),
)

/** Refused whatever the tier says: what git obeys, and everything outside. */
export const SANDBOXED: readonly PermissionRule[] = [
  deny("external_directory"),
  ...[".git", ".git/*", "*/.git", "*/.git/*"].map((path) => deny("edit", path)),
]

/** What runs commands later, decides what runs may do, or is obeyed by other agents. */
const GUARDED = [
  ...guarded([".meridian"]),
  ...OWN_FILES,
  ...guarded([
    ".git",
    ".husky",
    ".githooks",
    ".envrc",
    ".mcp.json",
    ".claude",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".codex",
    ".agents",
    ".cursor",
    ".gemini",
  ]),
]

/** What agents are told at every start. Guarded where the user says so: `permissions.guard_instructions`. */
const INSTRUCTIONS = guarded([
  "AGENTS.md",
  "AGENTS.override.md",
  "CLAUDE.md",
  "CLAUDE.local.md",
  "GEMINI.md",
  ".cursorrules",
  ".windsurfrules",
  ".github/copilot-instructions.md",
])

const TIERS: Readonly<Record<Exclude<PermissionTier, "danger">, readonly PermissionRule[]>> = {
  "read-only": [ASK_ALL, ...READ_ONLY_NEVER, ...LOOKING],
  "workspace-write": [ASK_ALL, ...LOOKING, allow("edit")],
  "full-access": [allow("*"), ask("external_directory")],
}

const ACTIONS: Readonly<Record<string, string>> = {
  Write: "edit",
  MultiEdit: "edit",
  NotebookEdit: "edit",
  ApplyPatch: "edit",
  apply_patch: "edit",
  write: "edit",
  TodoWrite: "todo",
  TodoRead: "todo",
  LS: "glob",
}

const rulesOfTool = (tool: string): readonly PermissionRule[] => {
  const [, name = "", pattern] = /^([\w*-]+)(?:\((.*)\))?$/s.exec(tool) ?? []
  if (name === "") return []
  const server = /^mcp__(\w+?)(?:__(\w+))?$/.exec(name)
  if (server !== null) return [allow(`${server[1]}_${server[2] ?? "*"}`)]
  const action = ACTIONS[name] ?? name.toLowerCase()
  return [pattern === undefined ? allow(action) : allow(action, pattern.replace(/:\*$/, " *"))]
}
