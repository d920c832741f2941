/**
 * Lists of tools as agent profiles write them (`Read`, `Edit(src/**)`, `Bash(npm test:*)`). A project's profile may
 * choose among the tools its tier allows. It cannot give itself more.
 */
import type { PermissionTier } from "./tier.ts"

export const toolsWithin = (tools: readonly string[], tier: PermissionTier | undefined): readonly string[] =>
  tier === "full-access" || tier === "danger" ? tools : tools.filter((tool) => isWithin(tool, tier))

const LOOKING: ReadonlySet<string> = new Set([
  "Read",
  "Glob",
  "Grep",
  "LS",
  "NotebookRead",
  "TodoRead",
  "TodoWrite",
  "Skill",
  "Task",
  "Agent",
  "ExitPlanMode",
])
const EDITING: ReadonlySet<string> = new Set(["Edit", "Write", "MultiEdit", "NotebookEdit", "ApplyPatch"])
/** Matched word for word: a pattern would allow more than looking. */
const LOOKING_COMMANDS: ReadonlySet<string> = new Set(["git status", "git log", "git diff"])

const isWithin = (tool: string, tier: "read-only" | "workspace-write" | undefined): boolean => {
  const [, name = "", pattern] = /^([\w-]+)(?:\((.*)\))?$/s.exec(tool) ?? []
  const named = (set: ReadonlySet<string>): boolean =>
    [...set].some((candidate) => candidate.toLowerCase() === name.toLowerCase())
  if (name.toLowerCase() === "bash") return pattern !== undefined && LOOKING_COMMANDS.has(pattern)
  if (named(LOOKING)) return true
  return tier === "workspace-write" && named(EDITING) && (pattern === undefined || PLAIN_FOLDER.test(pattern))
}

/** Begins in a visible folder of the project. Hidden folders are guarded, and a list must not name them. */
const PLAIN_FOLDER = /^(?:\.\/)?[\p{L}\p{N}_][^/*]*(?:\/(?!\.)[^/]*)*$/u
