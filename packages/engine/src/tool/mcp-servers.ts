/**
 * Reads the configured MCP servers. Both known forms are accepted: a command with `args` and `env`, or a command list with
 * `environment`. A server with a `url` is reached over HTTP.
 */
import {
  anyOf,
  BOOLEAN,
  decoder,
  Failure,
  isJsonObject,
  listOf,
  mapOf,
  objectOf,
  problemText,
  STRING,
  text,
  type Problem,
  type TypeOf,
} from "@meridian/protocol"

import { TOOL_LIMITS } from "./limits.ts"

export type McpServer = { readonly name: string } & (
  | {
      readonly type: "stdio"
      readonly command: string
      readonly args: readonly string[]
      readonly environment: { readonly [name: string]: string }
      readonly directory: string | undefined
    }
  | {
      readonly type: "http"
      readonly url: string
      readonly headers: { readonly [name: string]: string }
      readonly oauth: McpAccount | undefined
    }
)

/** A program's account at an authorization server. Flows that need a person at a browser are not supported. */
export type McpAccount = TypeOf<typeof ACCOUNT>

const ACCOUNT = objectOf(
  {
    clientId: text({ least: 1 }),
    clientSecret: text({ least: 1 }),
    /** The authorization server. The secret is sent to no other. */
    issuer: text({ pattern: /^https?:\/\//i, like: "an http or https address" }),
  },
  { scope: STRING },
)

const TEXTS = mapOf(STRING)

const SERVER = objectOf(
  {},
  {
    name: STRING,
    enabled: BOOLEAN,
    disabled: BOOLEAN,
    url: text({ pattern: /^https?:\/\//i, like: "an http or https address" }),
    headers: TEXTS,
    oauth: ACCOUNT,
    command: anyOf(STRING, listOf(STRING)),
    args: listOf(STRING),
    env: TEXTS,
    environment: TEXTS,
    cwd: STRING,
    directory: STRING,
  },
)

const SERVERS = anyOf(listOf(SERVER), mapOf(SERVER))

/** MCP servers as a user configures them: by name, or as a list whose entries have a `name`. */
export type McpConfiguration = TypeOf<typeof SERVERS>

/** Leaves out disabled servers. Throws Failure INVALID_INPUT. */
export const readMcpServers = (configured: unknown): readonly McpServer[] => {
  if (configured === undefined || configured === null) return []
  if (!Array.isArray(configured) && !isJsonObject(configured))
    return refuse("it must be an object of servers by name")
  const entries = Array.isArray(configured)
    ? configured.map((entry: unknown) => [isJsonObject(entry) ? entry["name"] : undefined, entry] as const)
    : Object.entries(configured)
  if (entries.length > TOOL_LIMITS.mcpServers) return refuse(`at most ${TOOL_LIMITS.mcpServers} servers`)
  return entries.flatMap(([name, entry]) => {
    if (typeof name !== "string" || name === "") return refuse("every server needs a name")
    // Unknown fields are ignored, because other programs keep their own settings here.
    const decoded = decodeServer(entry)
    if (decoded.tag === "problem") return refuse(problemText(inside(decoded.problem, name), name))
    const { enabled = true, disabled = false } = decoded.value
    return enabled && !disabled ? [openServer(name, decoded.value)] : []
  })
}

const decodeServer = decoder(SERVER, { unknown: "strip" })

const inside = (problem: Problem, name: string): Problem =>
  problem.path.length === 0 ? problem : { ...problem, path: [name, ...problem.path] }

/** Values that must not appear in any output or in a tool's environment. */
export const secretsOfServers = (servers: readonly McpServer[]): readonly string[] =>
  servers.flatMap((server) => {
    const named = Object.entries(server.type === "http" ? server.headers : server.environment)
    return [
      ...named.flatMap(([name, value]) =>
        SECRET_NAME.test(name) ? [value, value.replace(/^(?:bearer|basic)\s+/i, "")] : [],
      ),
      ...(server.type === "http" && server.oauth !== undefined ? [server.oauth.clientSecret] : []),
    ].filter((value) => value.length >= LEAST_SECRET)
  })

const SECRET_NAME = /authorization|key|token|secret|cookie|password/i
/** Hiding shorter values would remove ordinary words from texts. */
const LEAST_SECRET = 8

const openServer = (name: string, entry: TypeOf<typeof SERVER>): McpServer => {
  const { url, command, args = [], headers = {}, oauth } = entry
  if (url !== undefined) {
    if (!URL.canParse(url)) return refuse(`the url of ${name} is not one`)
    return { type: "http", name, url, headers, oauth }
  }
  const [first = "", ...rest] = typeof command === "string" ? [command, ...args] : (command ?? [])
  if (first === "") return refuse(`${name} needs a command or a url`)
  const environment = entry.environment ?? entry.env ?? {}
  return {
    type: "stdio",
    name,
    command: first,
    args: rest,
    environment,
    directory: entry.directory ?? entry.cwd,
  }
}

const refuse = (why: string): never => {
  throw new Failure("INVALID_INPUT", { what: `The configuration of MCP servers is wrong: ${why}` })
}
