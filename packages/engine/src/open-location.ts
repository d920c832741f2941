/** Builds what belongs to one place: its tools, its MCP servers, its context. All sessions there share it. */
import { randomUUID } from "node:crypto"
import { existsSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"

import { Failure, withoutCredentials } from "@meridian/protocol"
import { Effect, type Scope } from "effect"

import type { EngineOptions } from "./api.ts"
import {
  ambientInstructions,
  instructionsBeside,
  instructionsInReference,
  nestedInstructions,
} from "./context/ambient-instructions.ts"
import { briefSource } from "./context/brief.ts"
import { configuredInstructions } from "./context/configured-instructions.ts"
import { embedderSource } from "./context/embedder-source.ts"
import { dateSource, environmentSource } from "./context/environment.ts"
import { createFileCache, type FileCache } from "./context/file-cache.ts"
import { createLookUp, type LookUp, type LookUps } from "./context/look-up.ts"
import { referencesSource } from "./context/references.ts"
import { createContextRegistry, RANK, type ContextRegistry } from "./context/registry.ts"
import { rulesSource } from "./context/rules.ts"
import { openSkillShelf, ownSkillFolders, skillsSource, type SkillShelf } from "./context/skills.ts"
import { createUrlReader, fetchPage } from "./context/url-reader.ts"
import { expandPrompt } from "./expand/expand-prompt.ts"
import { EXPAND_LIMITS } from "./expand/limits.ts"
import { listTemplates } from "./expand/templates.ts"
import type { ExtensionHost } from "./extension/index.ts"
import { openHide, openHidePieces, secretsOf } from "./model/secrets.ts"
import { fromThrowing } from "./port/from-throwing.ts"
import type { LocationServices } from "./port/location.ts"
import type { Time } from "./port/time.ts"
import { ToolError, type Tool } from "./port/tool.ts"
import { callableAgents } from "./read-agents.ts"
import { bashTool } from "./tool/bash.ts"
import { boundOutput } from "./tool/bound-output.ts"
import { builtinTools } from "./tool/builtins.ts"
import { embedderTool } from "./tool/embedder-tool.ts"
import type { FileLocks } from "./tool/file-locks.ts"
import { readMcpServers, secretsOfServers } from "./tool/mcp-servers.ts"
import { openMcpTroubles } from "./tool/mcp-troubles.ts"
import { openMcp, type McpSource } from "./tool/mcp.ts"
import type { ProcessGuard } from "./tool/process-guard.ts"
import type { HistoryOptions } from "./tool/recall.ts"
import { openToolRegistry, type ToolRegistry } from "./tool/registry.ts"
import { isToolOutput } from "./tool/tool-output.ts"
import type { WebfetchOptions } from "./tool/webfetch.ts"

export interface LocationOptions {
  readonly directory: string
  readonly options: EngineOptions
  readonly time: Time
  readonly guard: ProcessGuard
  readonly locks: FileLocks
  /** Contribute tools, context and hooks here. */
  readonly extensions: ExtensionHost["Service"]
  readonly outputDirectory: string
  /** Names the store in the environment of processes. */
  readonly scope: string
  /** The past of sessions, for `recall` and `expand`. */
  readonly history: HistoryOptions["history"]
  readonly environment: { readonly [name: string]: string | undefined }
  /** Called for every instruction file that is really read. */
  readonly onRead: (path: string) => void
}

export const openLocation = (place: LocationOptions): Effect.Effect<LocationServices, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const { directory, options, guard } = place
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
      return yield* Effect.fail(new Failure("LOCATION_NOT_FOUND", { directory }))
    const { lookUp, together } = createLookUp(place.time.now)
    const files = createFileCache(lookUp, place.onRead)
    const root = projectRoot(directory)
    const skills = openSkillShelf({ directory, root, own: ownSkillFolders(place.environment), files, lookUp })
    const servers = yield* fromThrowing(() => readMcpServers(options.mcp ?? []))
    const secrets = [...options.models.flatMap(secretsOf), ...secretsOfServers(servers)]
    const environment = withoutCredentials(place.environment, { secrets, keep: options.keepVariables ?? [] })
    const registry = openToolRegistry({ outputDirectory: place.outputDirectory, hide: openHide(secrets) })
    const forTools = {
      ...place,
      root: directory,
      monotonic: place.time.monotonic,
      environment,
      references: options.references ?? [],
      hidePieces: openHidePieces(secrets),
      wrapCommand: options.wrapCommand,
      skills,
      callable: callableAgents(options.agents),
      fetchPage: (url: URL, bounds: Parameters<WebfetchOptions["fetchPage"]>[1]) =>
        fetchPage(url, { ...bounds, allowPrivate: options.allowPrivateAddresses === true }),
    }
    registry.contribute(builtinTools(forTools))
    yield* fromThrowing(() => contributeOwn(registry, options))
    const mcp = yield* Effect.acquireRelease(
      fromThrowing(() =>
        openMcp({ servers, guard, environment, directory, monotonic: place.time.monotonic }),
      ),
      (opened) => Effect.promise(opened.close),
    )
    const references = referencePlaces(place)
    const context = openContext({ ...place, root, files, skills, lookUp, together })
    const templates = { directory, root, own: join(configurationOf(environment), "meridian", "commands") }
    const { hooks } = yield* Effect.acquireRelease(
      Effect.sync(() =>
        place.extensions.join({
          directory,
          contributeTools: (tools) => registry.contribute(tools.map(embedderTool)),
          contributeContext: (sources) =>
            context.contribute(
              RANK.embedder,
              sources.map((source) => embedderSource(source, place.time.sleep)),
            ),
          isToolOutput,
          bound: (output) => boundOutput(output, place.outputDirectory),
        }),
      ),
      (joined) => Effect.sync(joined.leave),
    )
    return {
      expand: (request) =>
        expandPrompt(request, {
          ...forTools,
          home: environment["HOME"],
          readResource: mcp.readResource,
          templates,
          shell: options.commands?.shell === true,
          run: runLineWith(bashTool(forTools)),
        }),
      templates: () => listTemplates(templates),
      directory,
      hooks,
      observe: context.observe,
      ...(servers.length === 0
        ? { tools: Effect.sync(registry.materialize) }
        : { tools: materializer(registry, mcp), troubles: openMcpTroubles(mcp) }),
      instructionsBeside: (path, reference) => {
        if (reference === undefined) return instructionsBeside(path, { directory, root, files })
        const known = references.find(({ name }) => name === reference)
        return known === undefined ? [] : instructionsInReference(path, known, files)
      },
    }
  })

const contributeOwn = (registry: ToolRegistry, options: EngineOptions): void => {
  try {
    registry.contribute((options.tools ?? []).map(embedderTool))
  } catch (cause) {
    throw new Failure(
      "INVALID_INPUT",
      { what: cause instanceof Error ? cause.message : String(cause) },
      { cause },
    )
  }
}

const referencePlaces = ({ directory, options }: Pick<LocationOptions, "directory" | "options">) =>
  (options.references ?? []).map(({ name, path }) => ({ name, path: resolve(directory, path) }))

/** Runs a shell line of a template as the tool does. It was already allowed, so nobody is asked. */
const runLineWith =
  (bash: Tool) =>
  async (command: string, signal: AbortSignal): Promise<string> => {
    const { content } = await bash.execute(
      { command, timeout: EXPAND_LIMITS.commandMs },
      {
        sessionID: "template",
        agent: "template",
        messageID: "template",
        callID: randomUUID(),
        signal,
        ask: async ({ action, title }) => {
          if (action !== "bash") throw new ToolError("denied", `Nobody is there to allow it: ${title}.`)
        },
        task: () => Promise.reject(new ToolError("denied", "A template gives no work to others.")),
        question: () => Promise.reject(new ToolError("denied", "Nobody is there to answer.")),
        todo: { read: async () => [], replace: async () => undefined },
      },
    )
    return content.map((part) => (part.type === "text" ? part.text : "")).join("\n")
  }

/** MCP servers may come and go between turns. Their tools are contributed again only when they changed. */
const materializer = (registry: ToolRegistry, mcp: McpSource): LocationServices["tools"] => {
  let offered = "[]"
  let contribution: { readonly close: () => void } | undefined
  return Effect.map(Effect.promise(mcp.tools), (tools) => {
    const now = JSON.stringify(tools.map((tool) => tool.advertisement))
    if (now !== offered) {
      offered = now
      contribution?.close()
      contribution = registry.contribute(tools)
    }
    return registry.materialize()
  })
}

/** The nearest folder upward that is a git repository; otherwise the place itself. */
const projectRoot = (directory: string): string => {
  for (let folder = directory; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder
    if (folder === dirname(folder)) return directory
  }
}

const openContext = (
  place: LocationOptions & {
    readonly root: string
    readonly files: FileCache
    readonly skills: SkillShelf
    readonly lookUp: LookUp
    readonly together: LookUps["together"]
  },
): ContextRegistry => {
  const { directory, root, files, skills, lookUp, together, options, time, environment } = place
  const { platform } = process
  const configuration = configurationOf(environment)
  const registry = createContextRegistry(together)
  const urls = createUrlReader({
    allowPrivate: options.allowPrivateAddresses === true,
    monotonic: time.monotonic,
  })
  registry.contribute(RANK.environment, [
    environmentSource({ directory, root, git: existsSync(join(root, ".git")), platform }),
    dateSource(() => new Date(time.now())),
  ])
  registry.contribute(RANK.instructions, [
    ambientInstructions({
      directory,
      root,
      files,
      globalFile: join(configuration, "meridian", "AGENTS.md"),
      projectDisabled:
        isSet(environment["OPENCODE_DISABLE_PROJECT_CONFIG"]) ||
        isSet(environment["MERIDIAN_DISABLE_PROJECT_CONFIG"]),
    }),
    nestedInstructions({ root, files, references: referencePlaces(place) }),
    ...configuredInstructions(options.instructions ?? [], { directory, root, files, urls }),
  ])
  registry.contribute(RANK.rules, [rulesSource({ root, directory, environment, platform, lookUp })])
  registry.contribute(RANK.skills, [skillsSource(skills), referencesSource(options.references ?? [])])
  registry.contribute(
    RANK.embedder,
    (options.context ?? []).map((source) => embedderSource(source, time.sleep)),
  )
  registry.contribute(RANK.brief, [
    briefSource({
      root,
      directory,
      stateRoot: briefRoot(directory, root),
      recordsRoot: options.stateRoot,
      spaceId: environment["MERIDIAN_SPACE_ID"],
    }),
  ])
  return registry
}

/** A folder with its own state files is the root of the brief; otherwise the project is. */
const briefRoot = (directory: string, root: string): string =>
  ["SESSION.md", ".codex/specs", ".codex/bugs"].some((name) => existsSync(join(directory, name)))
    ? directory
    : root

const configurationOf = (environment: LocationOptions["environment"]): string =>
  environment["XDG_CONFIG_HOME"] ?? join(homedir(), ".config")

const isSet = (value: string | undefined): boolean =>
  value !== undefined && value !== "" && value !== "0" && value !== "false"
