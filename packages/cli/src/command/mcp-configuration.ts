/**
 * What a host needs to start `meridian serve`, in the host's own format. Full paths: a host does not read a shell's
 * aliases, and may have another PATH. Pure.
 */
export type McpHost = "claude" | "codex" | "opencode" | "json"

export interface McpConfiguration {
  /** The file the host reads it from. Absent for the generic format. */
  readonly file?: string
  readonly config: string
}

/** `program`: the words that start this command again. */
export const mcpConfiguration = (host: McpHost, program: readonly string[]): McpConfiguration => {
  const [command = "", ...first] = program
  const args = [...first, "serve"]
  switch (host) {
    case "claude":
      return {
        file: ".mcp.json",
        config: indented({ mcpServers: { meridian: { type: "stdio", command, args } } }),
      }
    case "codex":
      return { file: "~/.codex/config.toml", config: codexTable(command, args) }
    case "opencode":
      return {
        file: "opencode.json",
        config: indented({
          $schema: "https://opencode.ai/config.json",
          mcp: { meridian: { type: "local", command: [command, ...args], enabled: true } },
        }),
      }
    case "json":
      return { config: indented({ mcpServers: { meridian: { command, args } } }) }
  }
}

const indented = (value: unknown): string => JSON.stringify(value, null, 2)

/** A JSON string or list of strings is also valid TOML. */
const codexTable = (command: string, args: readonly string[]): string =>
  [
    "[mcp_servers.meridian]",
    `command = ${JSON.stringify(command)}`,
    `args = ${JSON.stringify(args)}`,
    "# An agent's run takes longer than a minute.",
    `tool_timeout_sec = ${LONGEST_CALL_SECONDS}`,
    "# Without it 'codex exec' refuses every call: no person is there to approve one.",
    'default_tools_approval_mode = "approve"',
  ].join("\n")

const LONGEST_CALL_SECONDS = 86_400
