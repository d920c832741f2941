/** Connects Meridian to a host, or disconnects it: a hook for Claude Code and Codex, a plugin file for OpenCode. */
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

import { Failure } from "@meridian/protocol"

import { addHooks, removeHooks } from "./host-hooks.ts"
import { SETTINGS, userOpencode, userSettings } from "./host-places.ts"
import { installPlugin, removePlugin } from "./plugin-file.ts"
import { quotedProgram } from "./program-line.ts"
import { projectRoot } from "./project-root.ts"
import { editSettings } from "./settings-file.ts"

export type InstallHost = "claude" | "codex" | "opencode"

export interface InstallInput {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** How this program was started: the runtime and the file. Used if `meridian` is not on the PATH. */
  readonly program: readonly string[]
  readonly host: string
  readonly remove: boolean
  /** Installs for this user in every project, not only in this one. */
  readonly user?: boolean
}

export interface InstallOutput {
  readonly host: InstallHost
  readonly path: string
  readonly action: "installed" | "updated" | "unchanged" | "removed" | "absent"
  /** Lines for people: the remaining steps. */
  readonly notes: readonly string[]
}

const NOTES = {
  claude: [],
  codex: [
    "Codex runs a hook only after you have trusted it: start codex here once, open /hooks and trust it.",
    "Non-interactive runs need a trusted hook as well, or --dangerously-bypass-hook-trust.",
  ],
} as const

export const installHost = (input: InstallInput): InstallOutput => {
  const { host } = input
  const root = projectRoot(input.cwd)
  switch (host) {
    case "opencode":
      return { host, notes: [], ...placePlugin(input, root) }
    case "claude":
    case "codex": {
      const path = input.user === true ? userSettings(host, input.env) : join(root, SETTINGS[host])
      const action = editSettings(path, (text) =>
        input.remove ? removeHooks(text, host) : addHooks(text, host, programOf(input)),
      )
      return { host, path, action, notes: action === "installed" ? NOTES[host] : [] }
    }
    default:
      throw new Failure("HOST_UNKNOWN", { host, known: "claude, codex, opencode" })
  }
}

const placePlugin = ({ user, env, remove }: InstallInput, root: string) => {
  const folder = user === true ? userOpencode(env) : join(root, ".opencode")
  return remove ? removePlugin(folder) : installPlugin(folder)
}

/**
 * The short name if a shell would find it, because settings are often shared; else this exact program. Folders that
 * `npx` and `npm run` put on the PATH exist only while they run.
 */
const programOf = ({ env, program }: InstallInput): string => {
  const folders = (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "" && !folder.replaceAll("\\", "/").endsWith("node_modules/.bin"))
  return folders.some((folder) => isProgram(join(folder, "meridian"))) ? "meridian" : quotedProgram(program)
}

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
