/**
 * A permission tier, or a list of allowed tools, as rules of the engine. Pure. The last rule that matches decides; what is
 * asked is a question on the terminal and, where nobody can answer, a refusal the model is told about.
 *
 * A command is matched as a whole, so a tier allows only exact commands: a wildcard would also match what stands behind a
 * semicolon.
 */
import type { PermissionRule } from "@meridian/engine"
import type { PermissionTier } from "@meridian/spaces"

export interface Rights {
  /** Absent: a conversation in which everything but looking is asked. */
  readonly permission?: PermissionTier
  /** As Claude writes them: `Edit`, `Bash(npm test:*)`; they replace what the tier allows. */
  readonly allowedTools?: readonly string[]
  /** MCP servers of this launch: who offers one means it to be used. */
  readonly servers: readonly string[]
}

export const permissionRules = ({ permission, allowedTools, servers }: Rights): readonly PermissionRule[] => {
  const offered = servers.map((server) => allow(`${toolPrefix(server)}_*`))
  if (permission === "danger") return [allow("*")]
  if (allowedTools !== undefined)
    return [
      ASK_ALL,
      ...OWN,
      ...(permission === "read-only" ? READ_ONLY_NEVER : []),
      ...allowedTools.flatMap((tool) => rulesOfTool(tool, permission === "full-access" ? [] : GUARDED)),
      ...offered,
    ]
  return [...(permission === undefined ? [ASK_ALL, ...LOOKING] : TIERS[permission]), ...offered]
}

/** As the engine names the tools of a server: another spelling would ask after all, or allow what was not meant. */
const toolPrefix = (server: string): string => {
  const plain = server.replaceAll(/[^A-Za-z0-9_-]/g, "_")
  return /^[A-Za-z]/.test(plain) ? plain : `mcp_${plain}`
}

const allow = (action: string, resource = "*"): PermissionRule => ({ action, resource, effect: "allow" })
const ask = (action: string, resource = "*"): PermissionRule => ({ action, resource, effect: "ask" })
const deny = (action: string, resource = "*"): PermissionRule => ({ action, resource, effect: "deny" })

const ASK_ALL = ask("*")

/** What touches nothing but the session itself. */
const OWN = ["todo", "skill", "recall", "expand"].map((action) => allow(action))

const LOOKING = [
  ...OWN,
  ...["read", "glob", "grep"].map((action) => allow(action)),
  ...["git status", "git log", "git diff"].map((command) => allow("bash", command)),
]

/** Refused, not asked: an approval that was given elsewhere in the project must not lift it. */
export const READ_ONLY_NEVER = [deny("edit"), deny("bash"), deny("external_directory")]

/**
 * Files that run commands later, or decide what runs may do. Agents' own files lie among them: `fs` of a space. A wildcard
 * goes over folders.
 */
const GUARDED = [
  ...[".meridian", ".meridian/*", "*/.meridian", "*/.meridian/*"].map((path) => ask("edit", path)),
  ...[".meridian/.spaces/*/fs/*", "*/.meridian/.spaces/*/fs/*"].map((path) => allow("edit", path)),
  ...[".git", ".git/*", "*/.git", "*/.git/*"].map((path) => ask("edit", path)),
]

const TIERS: Readonly<Record<Exclude<PermissionTier, "danger">, readonly PermissionRule[]>> = {
  "read-only": [ASK_ALL, ...READ_ONLY_NEVER, ...LOOKING],
  "workspace-write": [ASK_ALL, ...LOOKING, allow("edit"), ...GUARDED],
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

/** What ends one command and begins another, or sends its output elsewhere. */
const SHELL_MARKS = [";", "&", "|", "\n", "`", "$(", ">", "<"]

/** `guarded` holds for edits in general: whoever means these files names them. */
const rulesOfTool = (tool: string, guarded: readonly PermissionRule[]): readonly PermissionRule[] => {
  const [, name = "", pattern] = /^([\w*-]+)(?:\((.*)\))?$/s.exec(tool) ?? []
  if (name === "") return []
  const server = /^mcp__(\w+?)(?:__(\w+))?$/.exec(name)
  if (server !== null) return [allow(`${server[1]}_${server[2] ?? "*"}`)]
  const action = ACTIONS[name] ?? name.toLowerCase()
  if (pattern === undefined) return [allow(action), ...(action === "edit" || action === "*" ? guarded : [])]
  const resource = pattern.replace(/:\*$/, " *")
  if (action !== "bash" || !resource.includes("*")) return [allow(action, resource)]
  return [allow(action, resource), ...SHELL_MARKS.map((mark) => ask(action, `*${mark}*`))]
}
