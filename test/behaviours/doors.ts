import type { Behaviour } from "../behaviours.ts"

/** Issue 12: the ways in (install, editors, search, telemetry). */
export const DOORS_BEHAVIOURS = {
  "install.command": {
    seed: "issue 12",
    says: "the packed command installs into an empty folder, with -g and through npx, without dependencies, and runs",
  },
  "install.engine": {
    seed: "issue 12",
    says: "the packed engine installs into an empty folder; a program against it compiles with all checks and runs",
  },
  "install.plugin": {
    seed: "issue 12",
    says: "the packed plugin installs into an empty folder and gives OpenCode its hooks",
  },
  "install.old-node": {
    seed: "issue 12",
    says: "on a Node before 24.15 command and engine refuse in one sentence, and npm ci has no engine warning of ours",
  },
  "launch.finds-meridian": {
    seed: "issue 12",
    says: "every launch finds this very meridian first on its PATH, whatever the shell has",
  },
  "serve.print-config": {
    seed: "issue 12",
    says: "serve --print-config prints MCP configuration with full paths that works as pasted",
  },
} as const satisfies Record<string, Behaviour>
