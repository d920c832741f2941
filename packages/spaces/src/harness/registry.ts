/**
 * The harnesses Meridian knows, one line each. Name and binary are here so that a command that only prints them need
 * not load an adapter. `direct` is added by the command, the only one that knows the engine.
 */
import type { AcpHarness, Harness, HarnessId } from "../port/harness.ts"

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

/**
 * The engine: `program` starts this command again, `keptRequests` reads its log. Only the command can add it, because
 * only it has the engine.
 */
export const directEntry = (
  program: readonly [string, ...(readonly string[])],
  keptRequests?: Harness["keptRequests"],
): HarnessEntry => ({
  id: "direct",
  name: "Direct",
  binary: program[0],
  load: async () => ({
    ...(await import("./direct.ts")).direct(program),
    ...(keptRequests === undefined ? {} : { keptRequests }),
  }),
})

/** Any agent that speaks the Agent Client Protocol. `program` starts this command again, which talks to the agent. */
export const acpEntry = (
  id: AcpHarness,
  program: readonly [string, ...(readonly string[])],
): HarnessEntry => ({
  id,
  name: id,
  binary: program[0],
  load: async () => (await import("./acp.ts")).acp(id, program),
})

export const findHarness = (
  id: string,
  entries: readonly HarnessEntry[] = HARNESSES,
): HarnessEntry | undefined => entries.find((entry) => entry.id === id)
