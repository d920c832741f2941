/** The engine's settings in `config.toml`, except models and agents, as the options the engine is opened with. */
import { homedir } from "node:os"
import { resolve } from "node:path"

import type { EngineOptions } from "@meridian/engine"
import { openPlace, readConfig, type McpRow, type PermissionRuleRow, type World } from "@meridian/spaces"

export type McpServer = Extract<NonNullable<EngineOptions["mcp"]>, readonly unknown[]>[number]

export interface ConfiguredEngine {
  readonly options: Pick<
    EngineOptions,
    "compaction" | "instructions" | "keepVariables" | "references" | "retry" | "titles"
  >
  readonly limits: NonNullable<EngineOptions["limits"]>
  /** By name. */
  readonly mcp: Readonly<Record<string, McpServer>>
  readonly rules: readonly PermissionRuleRow[]
  readonly guardInstructions: boolean
}

export const loadConfiguredEngine = async (world: World): Promise<ConfiguredEngine> => {
  const { config, tables } = await readConfig(world)
  const { project } = openPlace(world.env, world.cwd)
  const at = (path: string): string =>
    resolve(project, path === "~" || path.startsWith("~/") ? `${homedir()}${path.slice(1)}` : path)
  return {
    options: {
      keepVariables: config["tools.keep_variables"],
      instructions: config["instructions.files"].filter((entry) => entry !== ""),
      references: [...(tables?.references ?? [])].flatMap(([name, { path, description }]) =>
        path === undefined
          ? []
          : [{ name, path: at(path), ...(description === undefined ? {} : { description }) }],
      ),
      compaction: given({
        auto: config["compaction.auto"],
        prune: config["compaction.prune"],
        buffer: config["compaction.buffer"],
        keepTokens: config["compaction.keep_tokens"],
        model: config["compaction.model"]?.replace(/^direct\//, ""),
        prompt: config["compaction.prompt"],
        timeoutMs: config["compaction.timeout_ms"],
      }),
      titles: given({
        model: config["titles.model"]?.replace(/^direct\//, ""),
        timeoutMs: config["titles.timeout_ms"],
      }),
      retry: given({ attempts: config["retry.attempts"], baseMs: config["retry.base_ms"] }),
    },
    limits: given({
      pendingInputs: config["limits.pending_inputs"],
      steerBatch: config["limits.steer_batch"],
      turnsPerActivity: config["limits.turns_per_activity"],
      leaseMs: config["limits.lease_ms"],
      patienceMs: config["limits.patience_ms"],
    }),
    mcp: Object.fromEntries(
      [...(tables?.mcp ?? [])].map(([name, row]) => [name, serverOf(row, { name, at, world })]),
    ),
    rules: config["permissions.rules"],
    guardInstructions: config["permissions.guard_instructions"],
  }
}

/** Servers of the launch take precedence over those of the configuration. */
export const withServers = (
  configured: ConfiguredEngine["mcp"],
  launched: NonNullable<EngineOptions["mcp"]> = [],
): NonNullable<EngineOptions["mcp"]> => ({
  ...configured,
  ...(isList(launched)
    ? Object.fromEntries(
        launched.flatMap((server) => (server.name === undefined ? [] : [[server.name, server]])),
      )
    : launched),
})

const isList = (servers: NonNullable<EngineOptions["mcp"]>): servers is readonly McpServer[] =>
  Array.isArray(servers)

type Given<Values> = { readonly [Name in keyof Values]?: Exclude<Values[Name], undefined> }

/** Only the values that are set. */
const given = <Values extends Readonly<Record<string, unknown>>>(values: Values): Given<Values> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same fields without those that say nothing
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<Values>

interface ServerScene {
  readonly name: string
  readonly at: (path: string) => string
  readonly world: Pick<World, "env" | "warn">
}

const serverOf = (row: McpRow, { name, at, world }: ServerScene): McpServer => {
  const { command, args = [], env, directory, url, headers, enabled } = row
  const token = enabled === false ? undefined : valueOf(row.bearer_token_env, { name, world })
  return given({
    enabled,
    url,
    command: command === undefined ? undefined : [...command, ...args],
    env,
    directory: directory === undefined ? undefined : at(directory),
    headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
    oauth: enabled === false ? undefined : accountOf(row, { name, world }),
  })
}

const accountOf = (row: McpRow, scene: Pick<ServerScene, "name" | "world">): McpServer["oauth"] => {
  const { client_id: clientId, issuer, scope } = row
  const clientSecret = valueOf(row.client_secret_env, scene)
  if (clientId === undefined || issuer === undefined || clientSecret === undefined) return undefined
  return { clientId, clientSecret, issuer, ...(scope === undefined ? {} : { scope }) }
}

/** A line feed after a token was stored by mistake. */
const valueOf = (
  variable: string | undefined,
  { name, world }: Pick<ServerScene, "name" | "world">,
): string | undefined => {
  if (variable === undefined) return undefined
  const value = world.env[variable]?.trim() ?? ""
  if (value !== "") return value
  world.warn("MCP_VARIABLE_UNSET", { server: name, variable })
  return undefined
}
