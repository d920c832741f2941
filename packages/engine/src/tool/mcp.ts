/** The tools of MCP servers as tools of the engine. */
import type { JsonObject } from "@meridian/protocol"
import type { ContentBlock, Tool as McpTool } from "@modelcontextprotocol/client"

import { ToolError, type Tool, type ToolContent, type ToolOutput } from "../port/tool.ts"
import { oneLine } from "./describe-error.ts"
import { isJsonObject } from "./input-shape.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { openMcpConnection, type McpConnection, type McpConnectionOptions } from "./mcp-connection.ts"
import type { McpServer } from "./mcp-servers.ts"

export interface McpOptions extends Partial<McpConnectionOptions> {
  readonly servers: readonly McpServer[]
  readonly guard: McpConnectionOptions["guard"]
  readonly environment: McpConnectionOptions["environment"]
  readonly directory: string
}

export interface McpSource {
  /**
   * Connects what is not connected and lists the tools of every server that answers in time. Never rejects: the servers
   * that failed are in `problems`, and a later call tries them again.
   */
  readonly tools: () => Promise<readonly Tool[]>
  readonly problems: () => readonly { readonly server: string; readonly message: string }[]
  readonly close: () => Promise<void>
}

export const openMcp = (options: McpOptions): McpSource => {
  const connections = options.servers.map((server) =>
    openMcpConnection(server, {
      connectMs: TOOL_LIMITS.mcpConnectMs,
      callMs: TOOL_LIMITS.mcpCallMs,
      backoffMs: TOOL_LIMITS.mcpBackoffMs,
      ...options,
    }),
  )
  const listed = new Map<string, readonly McpTool[]>()
  const problems = new Map<string, string>()

  const list = async (connection: McpConnection): Promise<void> => {
    if (listed.has(connection.server)) return
    try {
      listed.set(connection.server, await connection.listTools())
      problems.delete(connection.server)
    } catch (error) {
      problems.set(connection.server, oneLine(error))
    }
  }

  return {
    tools: async () => {
      await Promise.all(connections.map(list))
      const names = new Set<string>()
      return connections.flatMap((connection) =>
        (listed.get(connection.server) ?? []).map((tool) => {
          const name = uniqueName(`${connection.server}_${tool.name}`, names)
          names.add(name)
          return asTool(connection, tool, name)
        }),
      )
    },
    problems: () => [...problems].map(([server, message]) => ({ server, message })),
    close: async () => {
      await Promise.all(connections.map((connection) => connection.close()))
    },
  }
}

/** `server_tool` in the grammar of tool names; a name taken already gets a number. */
export const uniqueName = (wanted: string, taken: ReadonlySet<string>): string => {
  const plain = wanted.replaceAll(/[^A-Za-z0-9_-]/g, "_")
  const lettered = /^[A-Za-z]/.test(plain) ? plain : `mcp_${plain}`
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? "" : `_${number}`
    const name = lettered.slice(0, TOOL_LIMITS.toolNameCharacters - suffix.length) + suffix
    if (!taken.has(name)) return name
  }
}

const asTool = (connection: McpConnection, tool: McpTool, name: string): Tool => ({
  advertisement: {
    name,
    description: (tool.description ?? tool.title ?? name).slice(0, TOOL_LIMITS.descriptionCharacters),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it came as JSON a moment ago
    input: tool.inputSchema as JsonObject,
  },
  execute: async (input, scene) => {
    if (!isJsonObject(input)) throw new ToolError("invalid-input", "The input must be an object.")
    await scene.ask({
      action: name,
      resources: ["*"],
      title: `${connection.server}: ${tool.title ?? tool.name}`,
      detail: { input: JSON.stringify(input).slice(0, TOOL_LIMITS.detailCharacters) },
    })
    const result = await connection.callTool(tool.name, input, scene.signal)
    return toOutput(result)
  },
})

const toOutput = (result: {
  readonly content?: readonly ContentBlock[]
  readonly structuredContent?: unknown
  readonly isError?: boolean | undefined
}): ToolOutput => {
  const content = (result.content ?? []).map(toContent)
  const structured = isJsonObject(result.structuredContent) ? result.structuredContent : undefined
  if (result.isError === true) {
    const words = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
    throw new ToolError(
      "failed",
      (words === "" ? "The tool failed without saying why." : words).slice(0, TOOL_LIMITS.outputBytes),
    )
  }
  if (content.length > 0) return { content, ...(structured === undefined ? {} : { structured }) }
  const text = structured === undefined ? "(done)" : JSON.stringify(structured)
  return { content: [{ type: "text", text }], ...(structured === undefined ? {} : { structured }) }
}

const toContent = (block: ContentBlock): ToolContent => {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text }
    case "image":
    case "audio":
      return { type: "media", mediaType: block.mimeType, base64: block.data }
    case "resource_link":
      return { type: "text", text: `${block.name}: ${block.uri}` }
    case "resource":
      return "text" in block.resource
        ? { type: "text", text: block.resource.text }
        : {
            type: "media",
            mediaType: block.resource.mimeType ?? "application/octet-stream",
            base64: block.resource.blob,
          }
  }
}
