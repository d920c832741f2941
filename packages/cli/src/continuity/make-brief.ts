/** The brief of a directory, as each host wants to read it. */
import { existsSync } from "node:fs"
import { join } from "node:path"

import { estimateTokens, readBrief } from "@meridian/continuity"
import { Failure } from "@meridian/protocol"

import { projectRoot } from "./project-root.ts"

export const BRIEF_HOSTS = ["text", "opencode", "claude", "codex"] as const

export type BriefHost = (typeof BRIEF_HOSTS)[number]

export interface BriefOutput {
  readonly host: BriefHost
  readonly root: string
  /** `generic`, `workflow:spec/spec-execute`, ... */
  readonly mode: string
  readonly artifact: string | null
  readonly tokens: number
  readonly warnings: readonly string[]
  readonly output: string
}

export const makeBrief = async (input: {
  readonly cwd: string
  readonly host?: string | undefined
}): Promise<BriefOutput> => {
  const host = hostOf(input.host ?? "text")
  const root = rootOf(input.cwd)
  const brief = await readBrief({ root })
  return {
    host,
    root,
    mode: brief.mode,
    artifact: brief.artifact ?? null,
    tokens: estimateTokens(brief.text),
    warnings: brief.warnings,
    output: wrap(host, brief.text),
  }
}

const hostOf = (name: string): BriefHost => {
  const host = BRIEF_HOSTS.find((known) => known === name)
  if (host === undefined) throw new Failure("HOST_UNKNOWN", { host: name, known: BRIEF_HOSTS.join(", ") })
  return host
}

/** A folder with its own state speaks for itself; otherwise the project it lies in does. */
const rootOf = (cwd: string): string =>
  ["SESSION.md", ".codex/specs", ".codex/bugs"].some((name) => existsSync(join(cwd, name)))
    ? cwd
    : projectRoot(cwd)

/** Both agents add `additionalContext` of a SessionStart hook to the next request; other hooks only reach the summariser. */
const wrap = (host: BriefHost, text: string): string => {
  switch (host) {
    case "text":
    case "opencode":
      return text
    case "claude":
    case "codex":
      return JSON.stringify({
        hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: text },
      })
  }
}
