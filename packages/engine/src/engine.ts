/** Puts an engine together: the only file that names implementations. Two faces, the same verbs: Effect and Promise. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

import { Failure, type PermissionReply, type TodoItem } from "@meridian/protocol"
import { Context, Effect, Layer, type Scope } from "effect"

import type { EngineOptions } from "./api.ts"
import { LIMITS } from "./domain/limits.ts"
import { openLocation } from "./open-location.ts"
import type { World } from "./port/world.ts"
import { readSettings } from "./read-settings.ts"
import { attempt, attemptNow } from "./runner/attempt.ts"
import { drainSession, hasPendingInput, recoverSession, type Runtime } from "./runner/drain.ts"
import { createDrains, type Drains } from "./runner/drains.ts"
import { createHistories, type Histories } from "./runner/histories.ts"
import { createLocations } from "./runner/locations.ts"
import { createPermissions, type OpenPermissionRequest } from "./runner/permissions.ts"
import { recallTools } from "./runner/recall.ts"
import { createSignals } from "./runner/signals.ts"
import { makeSessions, Sessions } from "./sessions.ts"
import type { Tap } from "./store/database.ts"
import type { Fence, SessionHead } from "./store/log.ts"
import { openStore, type Store } from "./store/store.ts"
import { endLeftovers } from "./tool/end-leftovers.ts"
import { openFileLocks } from "./tool/file-locks.ts"
import { openProcessGuard } from "./tool/process-guard.ts"
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
  /** Told about every instruction file that is really read. */
  readonly onRead?: (path: string) => void
  readonly tap?: Tap
}

export const makeEngine = (
  options: EngineOptions,
  internals: EngineInternals = {},
): Effect.Effect<Context.Context<Sessions | Permissions | EngineRuntime>, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const world = internals.world ?? realWorld()
    const settings = yield* attemptNow(() => readSettings(options, world))
    const file = options.database === ":memory:" ? ":memory:" : resolve(options.database)
    const store = yield* Effect.acquireRelease(
      attempt(() =>
        openStore({
          file,
          world,
          leaseMs: settings.limits.leaseMs,
          ...(internals.tap === undefined ? {} : { tap: internals.tap }),
        }),
      ),
      (opened) => Effect.sync(opened.close),
    )
    // First: whoever is told of a commit may look into a history, which has then folded it in.
    const histories = createHistories(store)
    const signals = createSignals({ store, world })
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
    const locations = yield* createLocations({
      world,
      open: (directory) =>
        openLocation({
          directory,
          options,
          world,
          guard,
          locks,
          outputDirectory,
          scope: file,
          todos,
          ownTools: recallTools(store),
          environment: process.env, // oxlint-disable-line node/no-process-env -- a person's tools see a person's environment
          onRead: internals.onRead ?? (() => undefined),
        }),
    })
    const runtime: Runtime = {
      store,
      world,
      settings,
      signals,
      histories,
      permissions,
      locations,
      fences,
      releases: new Map(),
      endProcesses: async (calls) => {
        await endLeftovers({ calls, scope: file })
      },
    }
    const retryLater = contextRetries(world, (sessionID) => drains.wake(sessionID))
    yield* Effect.addFinalizer(() => Effect.sync(retryLater.close))
    const drains: Drains = createDrains({
      drain: (sessionID, demand) =>
        interruptibleFromElsewhere(
          runtime,
          sessionID,
          () => Effect.runFork(drains.interrupt(sessionID, Effect.void)),
          (session) => drainSession(runtime, session, demand),
        ).pipe(
          Effect.tapError((failure) =>
            Effect.sync(() => {
              retryLater.after(sessionID, failure)
              // One failed activity does not take the inputs behind it along.
              if (failure.code === "MODEL_FAILED" && hasPendingInput(runtime, sessionID))
                drains.wake(sessionID)
            }),
          ),
        ),
    })
    // Runs before the finalizers above: drains settle while everything they use is still open.
    yield* Effect.addFinalizer(() => Effect.sync(permissions.close).pipe(Effect.andThen(drains.close)))
    if (options.recover !== false) {
      yield* watchOthers(runtime, drains, options.recover)
      yield* recover(runtime, drains, options.recover)
    }
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

/**
 * What a dead process left is settled before anyone looks; then the inputs that ask for it are worked on. Where only some
 * sessions are ours, that is for whoever opened us to ask.
 */
const recover = (
  runtime: Runtime,
  drains: Drains,
  sessions: EngineOptions["recover"],
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { store } = runtime
    const named = Array.isArray(sessions) ? new Set<unknown>(sessions) : undefined
    yield* attemptNow(() => store.drafts.sweep())
    const lost = yield* attemptNow(() => store.leases.abandoned())
    yield* Effect.forEach(
      lost.filter((sessionID) => named?.has(sessionID) ?? true),
      (sessionID) => recoverSession(runtime, sessionID),
      { concurrency: 8, discard: true },
    )
    if (named !== undefined) return
    for (const sessionID of yield* attemptNow(() => store.inbox.sessionsToWake())) drains.wake(sessionID)
  })

/** Takes over from processes that died or froze while they held sessions of this database. */
const watchOthers = (
  runtime: Runtime,
  drains: Drains,
  sessions: EngineOptions["recover"],
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const { store, world, settings } = runtime
    const stop = world.every(Math.max(50, Math.floor(settings.limits.leaseMs / 4)), () => {
      // A store that cannot be written now is looked at again at the next tick; a timer has nobody to tell.
      const look = attempt(store.leases.sweep).pipe(
        Effect.flatMap((lost) => (lost ? recover(runtime, drains, sessions) : Effect.void)),
        Effect.ignore,
      )
      Effect.runFork(Effect.forkIn(look, scope))
    })
    yield* Effect.addFinalizer(() => Effect.sync(stop))
  })

/** A prompt that waits for its first context is tried again, until the source is there: soon at first, then seldom. */
const contextRetries = (world: World, wake: (sessionID: string) => void) => {
  const waiting = new Map<string, { readonly stop: () => void; readonly delayMs: number }>()
  return {
    after: (sessionID: string, failure: Failure): void => {
      const earlier = waiting.get(sessionID)
      earlier?.stop()
      waiting.delete(sessionID)
      if (failure.code !== "CONTEXT_UNAVAILABLE") return
      const delayMs = Math.min((earlier?.delayMs ?? LIMITS.contextRetryMs / 2) * 2, LIMITS.contextRetryMostMs)
      const stop = world.every(delayMs, () => {
        stop()
        wake(sessionID)
      })
      waiting.set(sessionID, { stop, delayMs })
    },
    close: (): void => {
      for (const { stop } of waiting.values()) stop()
    },
  }
}

/** A drain that also ends when another process records an interrupt, or has taken the session over. */
const interruptibleFromElsewhere = (
  runtime: Runtime,
  sessionID: string,
  stop: () => void,
  drain: (session: SessionHead) => Effect.Effect<void, Failure>,
): Effect.Effect<void, Failure> =>
  Effect.acquireUseRelease(
    attempt(() => {
      const { store, fences, signals } = runtime
      const session = store.log.head(sessionID)
      let stopped = false
      const unwatch = signals.watchForeign(() => {
        const fence = fences.get(sessionID)
        const lost = fence !== undefined && !store.leases.isCurrent(fence)
        const interrupted = (store.log.findHead(sessionID)?.interruptSeq ?? 0) > session.interruptSeq
        // Once: what is demanded while the cleanup runs must survive.
        if (stopped || !(lost || interrupted)) return
        stopped = true
        stop()
      })
      return { session, unwatch }
    }),
    ({ session }) => drain(session),
    ({ unwatch }) => Effect.sync(unwatch),
  )

/** The todo list of a session is an event like everything else it does, written under the drain's fence. */
const todoStore = (store: Store, histories: Histories, fences: ReadonlyMap<string, Fence>): TodoStore => ({
  load: (sessionID) => Promise.resolve(histories.current(store.log.head(sessionID)).transcript.choices.todo),
  save: (sessionID, items: readonly TodoItem[]) => {
    const fence = fences.get(sessionID)
    // A tool that goes on after its drain has ended has nothing to say any more.
    if (fence === undefined) throw new Failure("FENCED", { session: sessionID })
    store.log.append({ sessionID, fence }, [{ type: "session.next.todo.updated.1", data: { items } }])
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

const checkReply = (reply: unknown): void => {
  if (reply !== "once" && reply !== "always" && reply !== "reject")
    throw new Failure("INVALID_INPUT", { what: 'A reply is "once", "always" or "reject"' })
}
