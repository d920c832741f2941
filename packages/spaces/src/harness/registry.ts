/**
 * The harnesses Meridian knows: one line each. Name and binary are here so that a command that only prints them need not
 * load an adapter. `direct` is added by the command, which alone knows the engine.
 */
import type { Harness, HarnessId } from "../port/harness.ts"

export interface HarnessEntry {
  readonly id: HarnessId
  readonly name: string
  readonly binary: string
  readonly load: () => Promise<Harness>
}

export const HARNESSES: readonly HarnessEntry[] = [
  { id: "claude", name: "Claude", binary: "claude", load: async () => (await import("./claude.ts")).claude },
  { id: "codex", name: "Codex", binary: "codex", load: async () => (await import("./codex.ts")).codex },
  {
    id: "opencode",
    name: "OpenCode",
    binary: "opencode",
    load: async () => (await import("./opencode.ts")).opencode,
  },
]

export const findHarness = (
  id: string,
  entries: readonly HarnessEntry[] = HARNESSES,
): HarnessEntry | undefined => entries.find((entry) => entry.id === id)
