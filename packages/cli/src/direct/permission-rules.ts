/**
 * A permission tier, or a list of allowed tools, as rules of the engine. Pure. The last matching rule decides. `ask`
 * is a question on the terminal; without one it is a refusal with words for the model.
 *
 * A tier allows only exact commands. A pattern of a list only covers commands of plain words; that is how the engine
 * reads it (`domain/permission.ts`).
 */
import { lookingRules, type PermissionRule } from "@meridian/engine"
import { matchesWildcard } from "@meridian/protocol"
import type { PermissionTier } from "@meridian/spaces"

export interface Rights {
  /** Absent: a conversation that asks for everything but looking. */
  readonly permission?: PermissionTier
  /** As Claude writes them: `Edit`, `Bash(npm test:*)`. They replace what the tier allows. */
  readonly allowedTools?: readonly string[]
  /** MCP servers of this launch. A server that is offered is meant to be used. */
  readonly servers: readonly string[]
  /** Also ask before instruction files are edited. */
  readonly guardInstructions?: boolean
  /** Rules of the configuration, read last. They lift neither the refusals of a read-only run nor the guards. */
  readonly rules?: readonly PermissionRule[]
  /** Commands run in a sandbox, so file tools may change only what commands could. */
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

/** The guards follow every rule that allows edits. Paths denied before it stay denied. */
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

/** As the engine names a server's tools. Another spelling would ask needlessly, or allow too much. */
const toolPrefix = (server: string): string => {
  const plain = server.replaceAll(/[^A-Za-z0-9_-]/g, "_")
  return /^[A-Za-z]/.test(plain) ? plain : `mcp_${plain}`
}

const allow = (action: string, resource = "*"): PermissionRule => ({ action, resource, effect: "allow" })
const ask = (action: string, resource = "*"): PermissionRule => ({ action, resource, effect: "ask" })
const deny = (action: string, resource = "*"): PermissionRule => ({ action, resource, effect: "deny" })

const ASK_ALL = ask("*")

/** Actions that touch only the session itself. A child may do no more than its parent. */
const OWN = lookingRules("session")

const LOOKING = lookingRules("project")

/** Refused rather than asked: an approval given elsewhere in the project must not lift it. */
export const READ_ONLY_NEVER = [deny("edit"), deny("bash"), deny("external_directory")]

/** Always asked, in every tier below full access. A wildcard matches across folders. */
const guarded = (names: readonly string[]): readonly PermissionRule[] =>
  names.flatMap((name) => [name, `${name}/*`, `*/${name}`, `*/${name}/*`].map((path) => ask("edit", path)))

/** The agents' own files are among ours, in `fs` of a space. */
const OWN_FILES = [".meridian/.spaces/*/fs/*", "*/.meridian/.spaces/*/fs/*"].map((path) =>
  allow("edit", path),
)

/** Refused in every tier: files git obeys, and everything outside. */
export const SANDBOXED: readonly PermissionRule[] = [
  deny("external_directory"),
  ...[".git", ".git/*", "*/.git", "*/.git/*"].map((path) => deny("edit", path)),
]

/** Files that run commands later, decide what runs may do, or are obeyed by other agents. */
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

/** Instructions that agents read at every start. Guarded if the user wants it: `permissions.guard_instructions`. */
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
