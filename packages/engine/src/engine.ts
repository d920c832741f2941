/** Puts an engine together: the only file that names implementations. Two faces, the same verbs: Effect and Promise. */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

import { Failure, type PermissionReply, type TodoItem } from "@meridian/protocol"
import { Context, Effect, Layer, type Scope } from "effect"

import type { EngineOptions } from "./api.ts"
import { DEFAULT_LIMITS, type EngineLimits } from "./domain/limits.ts"
import { DEFAULT_RETRY } from "./domain/retry.ts"
import { openModel } from "./model/open-model.ts"
import type { World } from "./port/world.ts"
import { attempt } from "./runner/attempt.ts"
import { drainSession, recoverSession, type Runtime } from "./runner/drain.ts"
import { createDrains, type Drains } from "./runner/drains.ts"
import { createHistories, type Histories } from "./runner/histories.ts"
import { createLocations, type LocationServices } from "./runner/locations.ts"
import { createPermissions, type OpenPermissionRequest } from "./runner/permissions.ts"
import { BUILT_IN_AGENTS, type Agent, type Settings } from "./runner/settings.ts"
import { createSignals } from "./runner/signals.ts"
import { makeSessions, Sessions } from "./sessions.ts"
import type { Fence } from "./store/log.ts"
import { openStore, type Store } from "./store/store.ts"
import { builtinTools } from "./tool/builtins.ts"
import { embedderTool } from "./tool/embedder-tool.ts"
import { endLeftovers } from "./tool/end-leftovers.ts"
import { openFileLocks, type FileLocks } from "./tool/file-locks.ts"
import { openProcessGuard, type ProcessGuard } from "./tool/process-guard.ts"
import { openToolRegistry, type ToolRegistry } from "./tool/registry.ts"
import type { TodoStore } from "./tool/todo.ts"
import { realWorld } from "./world.ts"

export class Permissions extends Context.Service<
  Permissions,
  {
    readonly list: (input?: {
      readonly sessionID?: string
    }) => Effect.Effect<readonly OpenPermissionRequest[], Failure>
    readonly reply: (input: {
      readonly requestID: string
      readonly reply: PermissionReply
      readonly message?: string
    }) => Effect.Effect<void, Failure>
  }
>()("meridian/Permissions") {}

/** What the Promise face reads directly, without a Stream between. */
export class EngineRuntime extends Context.Service<EngineRuntime, Runtime>()("meridian/EngineRuntime") {}

/** Both services of one engine; closing the scope interrupts, settles and closes everything. */
export const engineLayer = (options: EngineOptions): Layer.Layer<Sessions | Permissions, Failure> =>
  Layer.effectContext(makeEngine(options))

/** What only tests replace. */
export interface EngineInternals {
  readonly world?: World
}

export const makeEngine = (
  options: EngineOptions,
  internals: EngineInternals = {},
): Effect.Effect<Context.Context<Sessions | Permissions | EngineRuntime>, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const world = internals.world ?? realWorld()
    const settings = yield* attempt(() => readSettings(options, world))
    const file = options.database === ":memory:" ? ":memory:" : resolve(options.database)
    const store = yield* Effect.acquireRelease(
      attempt(() => openStore({ file, world, leaseMs: settings.limits.leaseMs })),
      (opened) => Effect.sync(opened.close),
    )
    const signals = createSignals({ store, world })
    const histories = createHistories(store)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        signals.close()
        histories.close()
      }),
    )
    const permissions = createPermissions({ store, world, signals, histories })
    const guard = yield* Effect.acquireRelease(
      Effect.sync(() => openProcessGuard()),
      (opened) => Effect.promise(opened.close),
    )
    const outputDirectory = yield* openOutputDirectory(file)
    const locks = openFileLocks()
    const fences = new Map<string, Fence>()
    const todos = todoStore(store, histories, fences)
    const locations = yield* createLocations((directory) =>
      openLocation({ directory, options, guard, locks, outputDirectory, file, todos }),
    )
    const runtime: Runtime = {
      store,
      world,
      settings,
      signals,
      histories,
      permissions,
      locations,
      fences,
      endProcesses: async (calls) => {
        await endLeftovers({ calls, scope: file })
      },
    }
    const drains: Drains = createDrains({
      drain: (sessionID, demand) =>
        interruptibleFromElsewhere(
          runtime,
          sessionID,
          () => Effect.runFork(drains.interrupt(sessionID, Effect.void)),
          drainSession(runtime, sessionID, demand),
        ),
    })
    // Runs before the finalizers above: drains settle while everything they use is still open.
    yield* Effect.addFinalizer(() => drains.close)
    yield* watchOthers(runtime, drains)
    yield* recover(runtime, drains)
    const sessions = makeSessions(runtime, drains)
    const asking: Permissions["Service"] = {
      list: ({ sessionID } = {}) => attempt(() => permissions.list(sessionID)),
      reply: (answer) =>
        attempt(() => {
          checkReply(answer.reply)
          const { sessionID, parked } = permissions.reply(answer)
          if (parked) drains.wake(sessionID)
        }),
    }
    return Context.make(Sessions, sessions).pipe(
      Context.add(Permissions, asking),
      Context.add(EngineRuntime, runtime),
    )
  })

/** What a dead process left is settled before anyone looks; then the inputs that ask for it are worked on. */
const recover = (runtime: Runtime, drains: Drains): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { store } = runtime
    const lost = yield* attempt(() => store.leases.abandoned())
    yield* Effect.forEach(lost, (sessionID) => recoverSession(runtime, sessionID), {
      concurrency: 8,
      discard: true,
    })
    for (const sessionID of yield* attempt(() => store.inbox.sessionsToWake())) drains.wake(sessionID)
  })

/** Takes over from processes that died or froze while they held sessions of this database. */
const watchOthers = (runtime: Runtime, drains: Drains): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const { store, world, settings } = runtime
    const stop = world.every(Math.max(50, Math.floor(settings.limits.leaseMs / 4)), () => {
      if (store.leases.sweep()) Effect.runFork(Effect.forkIn(Effect.ignore(recover(runtime, drains)), scope))
    })
    yield* Effect.addFinalizer(() => Effect.sync(stop))
  })

/** A drain that also ends when another process records an interrupt. */
const interruptibleFromElsewhere = (
  runtime: Runtime,
  sessionID: string,
  stop: () => void,
  drain: Effect.Effect<void, Failure>,
): Effect.Effect<void, Failure> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const before = runtime.store.log.find(sessionID)?.interruptSeq ?? 0
      return runtime.signals.watchForeign(() => {
        if ((runtime.store.log.find(sessionID)?.interruptSeq ?? 0) > before) stop()
      })
    }),
    () => drain,
    (unwatch) => Effect.sync(unwatch),
  )

interface LocationOptions {
  readonly directory: string
  readonly options: EngineOptions
  readonly guard: ProcessGuard
  readonly locks: FileLocks
  readonly outputDirectory: string
  /** Names the store in the environment of processes. */
  readonly file: string
  readonly todos: TodoStore
}

const openLocation = (place: LocationOptions): Effect.Effect<LocationServices, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const { directory, options, guard, locks, outputDirectory, todos } = place
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
      return yield* Effect.fail(new Failure("LOCATION_NOT_FOUND", { directory }))
    const registry = openToolRegistry({ outputDirectory })
    registry.contribute(
      builtinTools({
        directory,
        root: directory,
        locks,
        guard,
        outputDirectory,
        environment: process.env, // oxlint-disable-line node/no-process-env -- a person's tools see a person's environment
        scope: place.file,
        todos,
      }),
    )
    yield* attempt(() => contribute(registry, options))
    return {
      directory,
      tools: () => Promise.resolve(registry.materialize()),
    }
  })

const contribute = (registry: ToolRegistry, options: EngineOptions): void => {
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

/** The todo list of a session is an event like everything else it does, written under the drain's fence. */
const todoStore = (store: Store, histories: Histories, fences: ReadonlyMap<string, Fence>): TodoStore => ({
  load: (sessionID) => Promise.resolve(histories.current(store.log.get(sessionID)).transcript.todo()),
  save: (sessionID, items: readonly TodoItem[]) => {
    const fence = fences.get(sessionID)
    store.log.write(
      { sessionID, durability: "NORMAL", ...(fence === undefined ? {} : { fence }) },
      ({ append }) => append([{ type: "session.next.todo.updated.1", data: { items } }]),
    )
    return Promise.resolve()
  },
})

/** Full texts of long outputs lie beside the database; those of an engine in memory go with it. */
const openOutputDirectory = (file: string): Effect.Effect<string, Failure, Scope.Scope> =>
  file === ":memory:"
    ? Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "meridian-output-"))),
        (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true })),
      )
    : Effect.succeed(`${file}.output`)

const readSettings = (options: EngineOptions, world: World): Settings => {
  const models = new Map(
    options.models.map((config) => [config.id, openModel(config, { now: world.now })] as const),
  )
  const agents = new Map<string, Agent>(BUILT_IN_AGENTS.map((agent) => [agent.name, agent]))
  for (const { name, prompt, permissions, model } of options.agents ?? [])
    agents.set(name, {
      name,
      rules: permissions ?? agents.get(name)?.rules ?? [],
      ...(prompt === undefined ? {} : { prompt }),
      ...(model === undefined ? {} : { model }),
    })
  if (options.model !== undefined && !models.has(options.model))
    throw new Failure("MODEL_NOT_FOUND", { model: options.model, known: [...models.keys()].join(", ") })
  return {
    limits: checkLimits({ ...DEFAULT_LIMITS, ...options.limits }),
    retry: { ...DEFAULT_RETRY, ...options.retry },
    rules: options.permissions ?? [],
    agents,
    models,
    defaultModel: options.model,
  }
}

const checkLimits = (limits: EngineLimits): EngineLimits => {
  for (const [name, value] of Object.entries(limits))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new Failure("INVALID_INPUT", {
        what: `The limit ${name} is a whole number of at least 1, not ${String(value)}`,
      })
  return limits
}

const checkReply = (reply: unknown): void => {
  if (reply !== "once" && reply !== "always" && reply !== "reject")
    throw new Failure("INVALID_INPUT", { what: 'A reply is "once", "always" or "reject"' })
}
