/** MCP servers that a client supplies for a session, in the engine's configuration format. Pure. */
import type { McpServer } from "@agentclientprotocol/sdk"
import { Failure, type JsonObject } from "@meridian/protocol"

/** Throws a Failure for a transport that we did not offer. */
export const clientServers = (servers: readonly McpServer[]): readonly JsonObject[] =>
  servers.map((server) => {
    if (!("type" in server)) {
      const { name, command, args, env } = server
      return { name, command, args, environment: pairs(env) }
    }
    if (server.type === "http") return { name: server.name, url: server.url, headers: pairs(server.headers) }
    throw new Failure("ACP_CONTENT_UNSUPPORTED", { type: `MCP over ${server.type}` })
  })

const pairs = (list: readonly { readonly name: string; readonly value: string }[]): Record<string, string> =>
  Object.fromEntries(list.map(({ name, value }) => [name, value]))
