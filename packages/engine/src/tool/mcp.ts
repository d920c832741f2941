/** The tools of MCP servers as tools of the engine. */
import { isJsonObject, nearest, type JsonObject } from "@meridian/protocol"
import type { ContentBlock, Tool as McpTool } from "@modelcontextprotocol/client"

import { ToolError, type Tool, type ToolContent, type ToolOutput } from "../port/tool.ts"
import { errorLine } from "./describe-error.ts"
import { openForeignInputCheck } from "./input-check.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { openMcpConnection, type McpConnection, type McpConnectionOptions } from "./mcp-connection.ts"
import type { McpServer } from "./mcp-servers.ts"

export interface McpOptions extends Partial<Omit<McpConnectionOptions, "onToolsChanged">> {
  readonly servers: readonly McpServer[]
  readonly guard: McpConnectionOptions["guard"]
  readonly environment: McpConnectionOptions["environment"]
  readonly directory: string
  readonly monotonic: McpConnectionOptions["monotonic"]
}

export interface McpSource {
  /**
   * The tools of every server that has answered so far. The same list with the same tools, until another server answers or
   * one reports a change. The first call waits for all servers (each has its time); later calls only start another attempt
   * in the background. Never rejects: failures are in `problems`.
   */
  readonly tools: () => Promise<readonly Tool[]>
  /** The content of a server's resource, by URI or name. Rejects with a ToolError that gives the reason. */
  readonly readResource: (
    server: string,
    named: string,
    signal: AbortSignal,
  ) => Promise<readonly ToolContent[]>
  readonly problems: () => readonly { readonly server: string; readonly message: string }[]
  readonly close: () => Promise<void>
}

export const openMcp = (options: McpOptions): McpSource => {
  const names = new Set<string>()
  const sources = options.servers.map((server) => openServerTools(server, options, names))
  let list: readonly Tool[] = []
  return {
    tools: async () => {
      await Promise.all(sources.map((source) => source.refresh()))
      const now = sources.flatMap((source) => source.tools())
      if (now.length !== list.length || now.some((tool, at) => tool !== list[at])) list = now
      return list
    },
    readResource: async (server, named, signal) => {
      const source = sources.find(({ name }) => name === server)
      if (source === undefined) {
        const near = nearest(
          server,
          sources.map(({ name }) => name),
        )
        throw new ToolError(
          "not-found",
          `There is no MCP server ${JSON.stringify(server.slice(0, 100))} here.${near === undefined ? "" : ` Did you mean ${near}?`}`,
        )
      }
      return source.readResource(named, signal)
    },
    problems: () => sources.flatMap((source) => source.problem() ?? []),
    close: async () => {
      await Promise.all(sources.map((source) => source.close()))
    },
  }
}

interface ServerTools {
  readonly name: string
  readonly readResource: (named: string, signal: AbortSignal) => Promise<readonly ToolContent[]>
  /** Resolves when the first attempt to list tools has ended; afterwards at once. */
  readonly refresh: () => Promise<void>
  readonly tools: () => readonly Tool[]
  readonly problem: () => { readonly server: string; readonly message: string } | undefined
  readonly close: () => Promise<void>
}

const openServerTools = (server: McpServer, options: McpOptions, names: Set<string>): ServerTools => {
  let current = false
  let tools: readonly Tool[] = []
  let problem: string | undefined
  let attempts = 0
  let attempt: Promise<void> | undefined
  const connection = openMcpConnection(server, {
    connectMs: TOOL_LIMITS.mcpConnectMs,
    callMs: TOOL_LIMITS.mcpCallMs,
    graceMs: TOOL_LIMITS.mcpGraceMs,
    backoffMs: TOOL_LIMITS.mcpBackoffMs,
    ...options,
    onToolsChanged: () => {
      current = false
    },
  })

  const list = async (): Promise<void> => {
    try {
      current = true
      const listed = await connection.listTools()
      for (const { advertisement } of tools) names.delete(advertisement.name)
      tools = listed.map((tool) => {
        const name = uniqueName(`${server.name}_${tool.name}`, names)
        names.add(name)
        return asTool(connection, tool, name)
      })
      problem = undefined
    } catch (error) {
      current = false
      problem = errorLine(error)
    } finally {
      attempts++
      attempt = undefined
    }
  }

  const findResource = async (named: string): Promise<string> => {
    const resources = await connection.listResources()
    const found = resources.find(({ uri, name }) => uri === named || name === named)
    if (found !== undefined) return found.uri
    // A URI may come from a template, which is in no list.
    if (/^[a-z][a-z0-9+.-]*:/i.test(named)) return named
    const near = nearest(
      named,
      resources.map(({ name }) => name),
    )
    throw new ToolError(
      "not-found",
      `The MCP server ${server.name} has no resource ${JSON.stringify(named.slice(0, 200))}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
    )
  }

  return {
    name: server.name,
    readResource: async (named, signal) => {
      const { contents } = await connection.readResource(await findResource(named), signal)
      return contents
        .slice(0, TOOL_LIMITS.outputMediaParts)
        .map((resource) => toContent({ type: "resource", resource }))
    },
    refresh: async () => {
      if (!current) attempt ??= list()
      if (attempts === 0) await attempt
    },
    tools: () => tools,
    problem: () => (problem === undefined ? undefined : { server: server.name, message: problem }),
    close: async () => {
      current = true
      await connection.close()
      await attempt
    },
  }
}

/** `server_tool`, with the characters allowed in tool names. A name in use gets a number. */
export const uniqueName = (wanted: string, taken: ReadonlySet<string>): string => {
  const plain = wanted.replaceAll(/[^A-Za-z0-9_-]/g, "_")
  const lettered = /^[A-Za-z]/.test(plain) ? plain : `mcp_${plain}`
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? "" : `_${number}`
    const name = lettered.slice(0, TOOL_LIMITS.toolNameCharacters - suffix.length) + suffix
    if (!taken.has(name)) return name
  }
}

const asTool = (connection: McpConnection, tool: McpTool, name: string): Tool => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it came as JSON a moment ago
  const schema = tool.inputSchema as JsonObject
  const description = (tool.description ?? tool.title ?? name).slice(0, TOOL_LIMITS.descriptionCharacters)
  const check = openForeignInputCheck(schema)
  return {
    ...(tool.annotations?.readOnlyHint === true ? { traits: { changes: "none" } as const } : {}),
    advertisement: { name, description, input: schema },
    execute: async (input, scene) => {
      if (!isJsonObject(input)) throw new ToolError("invalid-input", "The input must be an object.")
      // Checked before anyone is asked: a person should not approve an input that the tool cannot take.
      await check(input)
      await scene.ask({
        action: name,
        resources: ["*"],
        title: `${connection.server}: ${tool.title ?? tool.name}`,
        detail: { input: JSON.stringify(input).slice(0, TOOL_LIMITS.detailCharacters) },
      })
      const result = await connection.callTool(tool.name, input, scene.signal)
      return toOutput(result)
    },
  }
}

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
