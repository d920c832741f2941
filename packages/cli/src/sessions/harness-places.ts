/** Where each harness keeps this user's sessions. Nothing here is read or created. */
import { homedir } from "node:os"
import { join } from "node:path"

type Environment = Readonly<Record<string, string | undefined>>

/** The owner of a session. `engine` is ours, even if it runs as the harness `direct`. */
export const KEEPERS = ["engine", "claude", "codex", "opencode", "pi"] as const
export type Keeper = (typeof KEEPERS)[number]

export interface HarnessPlaces {
  /** Folders with a session in each `.jsonl` file below them. */
  readonly files: readonly { readonly keeper: "claude" | "codex" | "pi"; readonly folder: string }[]
  readonly opencode: string
}

export const harnessPlaces = (env: Environment): HarnessPlaces => {
  const home = env["HOME"] || homedir()
  const claude = env["CLAUDE_CONFIG_DIR"] || join(home, ".claude")
  const codex = env["CODEX_HOME"] || join(home, ".codex")
  const pi = env["PI_CODING_AGENT_DIR"] || join(home, ".pi/agent")
  const data = env["XDG_DATA_HOME"] || join(home, ".local/share")
  return {
    files: [
      { keeper: "claude", folder: join(claude, "projects") },
      { keeper: "codex", folder: join(codex, "sessions") },
      { keeper: "codex", folder: join(codex, "archived_sessions") },
      { keeper: "pi", folder: join(pi, "sessions") },
    ],
    opencode: join(data, "opencode/opencode.db"),
  }
}

/** A cache: everything in it can be rebuilt from the sources. */
export const cacheFolder = (env: Environment): string =>
  join(env["XDG_CACHE_HOME"] || join(env["HOME"] || homedir(), ".cache"), "meridian")

export const stateFolder = (env: Environment): string =>
  join(env["XDG_STATE_HOME"] || join(env["HOME"] || homedir(), ".local/state"), "meridian")
