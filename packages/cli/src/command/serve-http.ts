/** `meridian serve --http`: an engine on the state of this project, until a signal ends it. */
import { existsSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

import { isServerAddress, type EngineOptions } from "@meridian/engine"
import { Failure } from "@meridian/protocol"
import { isLoopback, serveHttp } from "@meridian/server"
import { isTrusted, openPlace, readConfig, type PermissionTier, type World } from "@meridian/spaces"

import { pageCompactions } from "../continuity/host-compactions.ts"
import { loadConfiguredEngine } from "../direct/configured-engine.ts"
import { loadEngineAgents } from "../direct/engine-agents.ts"
import { permissionRules, SANDBOXED } from "../direct/permission-rules.ts"
import { wrapperFor } from "../direct/wrapper-for.ts"
import { openDatabase } from "../engine-database.ts"
import { addExtensions } from "../extension/load-extensions.ts"
import { loadEngineModels } from "../models/load-engine-models.ts"
import { notifySessions } from "../notify-sessions.ts"
import { openTelemetry } from "../telemetry.ts"
import { VERSION } from "../version.ts"
import { removeOldToken, tokenFile } from "./token-place.ts"

export const serveUntilStopped = async (
  input: {
    readonly port: number
    readonly host: string
    readonly database: string | undefined
    readonly permission: PermissionTier | undefined
    readonly sessions: number | undefined
    readonly noWork: boolean
    readonly migrate: boolean
    readonly workspace: readonly string[]
    readonly advertise: string | undefined
    readonly drain: number | undefined
    readonly allowHost: readonly string[]
  },
  world: World,
): Promise<void> => {
  check(input)
  const place = openPlace(world.env, world.cwd)
  const { root } = place
  const worker = workerOf(input)
  const page = findPage()
  const { models, defaultModel } = await loadEngineModels(world)
  const agents = await loadEngineAgents(world)
  const database = await openDatabase(input.database, world)
  const { config } = await readConfig(world)
  const configured = await loadConfiguredEngine(world)
  const wrapCommand = await wrapperFor(undefined, config, world)
  removeOldToken(root)
  const token = world.env["MERIDIAN_HTTP_TOKEN"]
  const leaving = leavingOf(input.drain, isServerAddress(database.file), world)
  const server = await serveHttp({
    engine: {
      models,
      agents,
      ...configured.options,
      ...(wrapCommand === undefined ? {} : { wrapCommand }),
      mcp: configured.mcp,
      limits: configured.limits,
      commands: { shell: isTrusted(place, world.env) },
      permissions: [
        ...(input.permission === undefined
          ? configured.rules
          : permissionRules({ permission: input.permission, servers: [], ...configured })),
        ...(wrapCommand === undefined ? [] : SANDBOXED),
      ],
      ...(defaultModel === undefined ? {} : { model: defaultModel }),
      database: database.file,
      migrate: input.migrate,
      ...(worker === undefined ? {} : { worker }),
      ...(database.isForeign ? { recover: false, asksAgain: true } : {}),
    },
    stateRoot: root,
    tokenFile: tokenFile(root, world.env),
    ...(token === undefined || token === "" ? {} : { token }),
    names: input.allowHost,
    world,
    hostCompactions: (harness, session) => pageCompactions(world, harness, session),
    version: VERSION,
    port: input.port,
    host: input.host,
    signal: leaving.signal,
    drainMs: leaving.drainMs,
    hurry: leaving.hurry,
    log: (line) => world.stderr.write(`${line}\n`),
    observe: async (engine) => {
      // Ends with the engine. A failure is a warning.
      await addExtensions(engine, world)
      void notifySessions(engine, config["notify.command"], world).catch(() => undefined)
      return openTelemetry({ engine, database: database.name, everySession: true }, world, true)
    },
    ...(page === undefined ? {} : { pageDirectory: page }),
  })
  if (!isLoopback(input.host)) world.warn("HOST_OPEN", { host: input.host, port: server.port })
  process.stdout.write(
    world.json
      ? `${JSON.stringify({ url: server.url, page_url: server.pageUrl, token: server.token })}\n`
      : `Meridian listens on ${server.url}\nPage: ${server.pageUrl}\n`,
  )
  await server.stopped.finally(leaving.unlisten)
}

const workerOf = ({
  sessions,
  noWork,
  workspace,
  advertise,
}: {
  readonly sessions: number | undefined
  readonly noWork: boolean
  readonly workspace: readonly string[]
  readonly advertise: string | undefined
}): EngineOptions["worker"] => {
  if (noWork) {
    const [beside] = [
      ...(sessions === undefined ? [] : ["--sessions"]),
      ...(workspace.length === 0 ? [] : ["--workspace"]),
      ...(advertise === undefined ? [] : ["--advertise"]),
    ]
    if (beside === undefined) return false
    throw new Failure("USAGE", {
      problem: `Cannot combine --no-work with ${beside}.`,
      next: "leave out one of them.",
    })
  }
  if (sessions === undefined && workspace.length === 0 && advertise === undefined) return undefined
  return {
    ...(sessions === undefined ? {} : { sessions }),
    ...(workspace.length === 0 ? {} : { workspaces: readWorkspaces(workspace) }),
    ...(advertise === undefined ? {} : { address: advertise }),
  }
}

/** `NAME=DIR`, with unique names. */
const readWorkspaces = (given: readonly string[]): Readonly<Record<string, string>> => {
  const found = new Map<string, string>()
  for (const entry of given) {
    const [, name = "", directory = ""] = /^([^=]*)=(.*)$/s.exec(entry) ?? []
    const problem =
      name === "" || directory === ""
        ? `--workspace is NAME=DIR, got "${entry}".`
        : found.has(name)
          ? `--workspace names ${name} twice.`
          : undefined
    if (problem !== undefined) throw new Failure("USAGE", { problem, next: "run 'meridian serve --help'." })
    found.set(name, resolve(directory))
  }
  return Object.fromEntries(found)
}

const DRAIN_SECS = 60

/**
 * A signal that means "leave soon" drains; one from a keyboard stops at once. With a file there is no other node to
 * hand over to.
 */
const leavingOf = (drain: number | undefined, isServer: boolean, world: World) => {
  const stop = new AbortController()
  const hurry = new AbortController()
  let drainMs = (drain ?? (isServer ? DRAIN_SECS : 0)) * 1_000
  const unlisten = world.onSignal((signal) => {
    if (signal !== "SIGTERM") drainMs = 0
    if (stop.signal.aborted) hurry.abort()
    // The next signal ends the process in any case.
    if (stop.signal.aborted || drainMs === 0) unlisten()
  })
  const leave = (): void => stop.abort(world.signal.reason)
  if (world.signal.aborted) leave()
  world.signal.addEventListener("abort", leave, { once: true })
  return { signal: stop.signal, hurry: hurry.signal, drainMs: () => drainMs, unlisten }
}

const HIGHEST_PORT = 65_535

const check = ({ port, host }: { readonly port: number; readonly host: string }): void => {
  const problem =
    port > HIGHEST_PORT
      ? `--port must be a whole number from 0 to ${HIGHEST_PORT}, got "${port}".`
      : host.trim() === ""
        ? "--host needs an address."
        : undefined
  if (problem !== undefined) throw new Failure("USAGE", { problem, next: "run 'meridian serve --help'." })
}

const LEVELS = 8
const BUILT = ["web/index.html", "packages/web/dist/index.html"] as const

/** Beside this program: in its own folder when shipped, in the checkout when run from there. */
const findPage = (): string | undefined => {
  let folder = import.meta.dirname
  for (let level = 0; level < LEVELS; level += 1) {
    const found = BUILT.map((place) => join(folder, place)).find((path) => existsSync(path))
    if (found !== undefined) return dirname(found)
    folder = dirname(folder)
  }
  return undefined
}
