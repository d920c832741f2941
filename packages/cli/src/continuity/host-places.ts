/** Where our hook or plugin lives in a host: in the project, or in the user's settings and so in every project. */
import { join } from "node:path"

type Environment = Readonly<Record<string, string | undefined>>

export const SETTINGS = { claude: ".claude/settings.json", codex: ".codex/hooks.json" } as const

/** The user's own settings of a host. Each host can be configured to use another folder. */
export const userSettings = (host: "claude" | "codex", env: Environment): string => {
  const home = env["HOME"] ?? ""
  return host === "claude"
    ? join(env["CLAUDE_CONFIG_DIR"] || join(home, ".claude"), "settings.json")
    : join(env["CODEX_HOME"] || join(home, ".codex"), "hooks.json")
}

/** The user's own configuration folder of OpenCode. */
export const userOpencode = (env: Environment): string =>
  join(env["XDG_CONFIG_HOME"] || join(env["HOME"] ?? "", ".config"), "opencode")
