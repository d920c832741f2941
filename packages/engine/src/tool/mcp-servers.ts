/**
 * The MCP servers somebody configured, read from what they wrote. Both known ways of writing are understood: a command with
 * `args` and `env`, or a command list with `environment`; a server with a `url` is reached over HTTP.
 */
import { Failure } from "@meridian/protocol"

import { isJsonObject } from "./input-shape.ts"
import { TOOL_LIMITS } from "./limits.ts"

export type McpServer = { readonly name: string } & (
  | {
      readonly type: "stdio"
      readonly command: string
      readonly args: readonly string[]
      readonly environment: { readonly [name: string]: string }
      readonly directory: string | undefined
    }
  | { readonly type: "http"; readonly url: string; readonly headers: { readonly [name: string]: string } }
)

/** By name, or a list whose entries carry a `name`. Switched-off servers are left out. Throws Failure INVALID_INPUT. */
export const readMcpServers = (configured: unknown): readonly McpServer[] => {
  if (configured === undefined || configured === null) return []
  const entries = Array.isArray(configured)
    ? configured.map((entry: unknown) => [isJsonObject(entry) ? entry["name"] : undefined, entry] as const)
    : isJsonObject(configured)
      ? Object.entries(configured)
      : refuse("it must be an object of servers by name")
  if (entries.length > TOOL_LIMITS.mcpServers) return refuse(`at most ${TOOL_LIMITS.mcpServers} servers`)
  return entries.flatMap(([name, entry]) => {
    if (typeof name !== "string" || name === "") return refuse("every server needs a name")
    if (!isJsonObject(entry)) return refuse(`${name} must be an object`)
    if (entry["enabled"] === false || entry["disabled"] === true) return []
    return [readServer(name, entry)]
  })
}

const readServer = (name: string, entry: { readonly [key: string]: unknown }): McpServer => {
  const { url, command } = entry
  if (typeof url === "string") {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      return refuse(`the url of ${name} is not one`)
    return { type: "http", name, url, headers: texts(entry["headers"], `the headers of ${name}`) }
  }
  if (command === undefined) return refuse(`${name} needs a command or a url`)
  const words: unknown = Array.isArray(command)
    ? command
    : [command, ...list(entry["args"], `the args of ${name}`)]
  const [first, ...args] = list(words, `the command of ${name}`)
  if (first === undefined || first === "") return refuse(`${name} needs a command or a url`)
  const directory = entry["directory"] ?? entry["cwd"]
  return {
    type: "stdio",
    name,
    command: first,
    args,
    environment: texts(entry["environment"] ?? entry["env"], `the environment of ${name}`),
    directory: typeof directory === "string" ? directory : undefined,
  }
}

const list = (value: unknown, what: string): readonly string[] => {
  if (value === undefined) return []
  if (!Array.isArray(value)) return refuse(`${what} must be a list of strings`)
  return value.map((item: unknown) => (typeof item === "string" ? item : refuse(`${what} must be strings`)))
}

const texts = (value: unknown, what: string): { readonly [name: string]: string } => {
  if (value === undefined) return {}
  if (!isJsonObject(value)) return refuse(`${what} must be an object of strings`)
  const entries = Object.entries(value).map(([key, item]) =>
    typeof item === "string" ? ([key, item] as const) : refuse(`${what} must be strings`),
  )
  return Object.fromEntries(entries)
}

const refuse = (why: string): never => {
  throw new Failure("INVALID_INPUT", { what: `The configuration of MCP servers is wrong: ${why}` })
}
