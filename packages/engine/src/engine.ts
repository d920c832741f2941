/** Puts an engine together. This is the only file that names implementations; it composes and decides nothing. */
import type { Failure } from "@meridian/protocol"
import { Clock, Effect, Layer, Stream } from "effect"

import type { EngineOptions } from "./api.ts"
import { checkOptions } from "./check-options.ts"
import { chooseStore, storeKind } from "./choose-store.ts"
import { ExtensionHost } from "./extension/index.ts"
import { Extensions } from "./extensions.ts"
import { filePlacesLayer, noFilePlaces } from "./files/file-places.ts"
import { treesRoot } from "./files/trees-root.ts"
import { openIds } from "./ids.ts"
import { openLocation } from "./open-location.ts"
import { Permissions, PermissionsTable } from "./permissions.ts"
import type { FilePlaces } from "./port/file-trees.ts"
import { fromThrowing } from "./port/from-throwing.ts"
import { Ids } from "./port/ids.ts"
import { KeptOutputs } from "./port/kept-outputs.ts"
import { Store } from "./port/store.ts"
import { timeOf } from "./port/time.ts"
import { Questions, QuestionsTable } from "./questions.ts"
import { readSettings } from "./read-settings.ts"
import { LostProcesses, schedulerLayer, type Scheduler } from "./schedule/index.ts"
import {
  Casting,
  FoldedSessions,
  locationsLayer,
  Settings,
  Signals,
  type Locations,
} from "./session/index.ts"
import { Sessions, SessionsTable } from "./sessions.ts"
import type { SqliteOptions } from "./store/sqlite/store.ts"
import { endLeftovers } from "./tool/end-leftovers.ts"
import { openFileLocks } from "./tool/file-locks.ts"
import { openProcessGuard } from "./tool/process-guard.ts"
import { AskPermission, AskQuestion, Tasks, Titles } from "./turn/index.ts"
import { offerOf } from "./worker-options.ts"

/** Replaced only in tests. */
export interface EngineInternals {
  readonly ids?: Ids["Service"]
  readonly sqlite?: Omit<SqliteOptions, "file" | "leaseMs">
  /** Replaces SQLite. */
  readonly store?: Layer.Layer<Store | KeptOutputs, Failure, Ids>
  /** Replaces the search through the processes of this machine. */
  readonly lostProcesses?: LostProcesses["Service"]
  /** Replaces the git trees. */
  readonly files?: Layer.Layer<FilePlaces>
  /** Called for every instruction file that is really read. */
  readonly onRead?: (path: string) => void
}

/** The services of one engine. Closing the scope interrupts, settles and closes everything. */
export const engineLayer = (
  options: EngineOptions,
): Layer.Layer<Sessions | Permissions | Questions | Extensions, Failure> =>
  Layer.mergeAll(Sessions.layer, Permissions.layer, Questions.layer).pipe(
    Layer.provideMerge(composeEngine(options)),
  )

/** The verbs from which both faces are made. */
type Tables = SessionsTable | PermissionsTable | QuestionsTable | Extensions | Scheduler | Store

export const composeEngine = (
  options: EngineOptions,
  internals: EngineInternals = {},
): Layer.Layer<Tables, Failure> =>
  Layer.unwrap(
    fromThrowing(() => {
      checkOptions(options)
      return compose(options, internals)
    }),
  )

const compose = (options: EngineOptions, internals: EngineInternals): Layer.Layer<Tables, Failure> =>
  Layer.mergeAll(SessionsTable.layer, PermissionsTable.layer, QuestionsTable.layer, Extensions.layer).pipe(
    Layer.provideMerge(schedulerLayer(options.recover ?? true)),
    Layer.provideMerge(
      Layer.mergeAll(
        Tasks.layer.pipe(Layer.provideMerge(askPermission(options))),
        AskQuestion.layer,
        Titles.layer,
        Casting.layer,
        lostProcesses(internals),
        filePlaces(options, internals),
      ),
    ),
    Layer.provideMerge(locations(options, internals)),
    Layer.provideMerge(ExtensionHost.layer),
    Layer.provideMerge(FoldedSessions.layer),
    Layer.provideMerge(Signals.layer),
    Layer.provideMerge(store(options, internals)),
    Layer.provideMerge(settings(options)),
    Layer.provide(ids(internals)),
  )

const askPermission = ({ asksAgain = false }: EngineOptions) => AskPermission.layer({ asksAgain })

const ids = (internals: EngineInternals): Layer.Layer<Ids> =>
  Layer.effect(
    Ids,
    Effect.map(Clock.Clock, (clock) => internals.ids ?? openIds(() => clock.currentTimeMillisUnsafe())),
  )

const settings = (options: EngineOptions): Layer.Layer<Settings, Failure> =>
  Layer.effect(
    Settings,
    Effect.flatMap(Clock.Clock, (clock) => fromThrowing(() => readSettings(options, timeOf(clock)))),
  )

const store = (
  { database, migrate = false, limits: wished, worker }: EngineOptions,
  internals: EngineInternals,
): Layer.Layer<Store | KeptOutputs, Failure, Ids> =>
  internals.store ??
  chooseStore({
    database,
    migrate,
    leaseMs: wished?.leaseMs,
    sqlite: internals.sqlite,
    offer: offerOf({ database, worker }),
    token: process.env["MERIDIAN_CLUSTER_TOKEN"], // oxlint-disable-line node/no-process-env -- a secret is never an argument
  })

const lostProcesses = (internals: EngineInternals): Layer.Layer<LostProcesses, never, Store> =>
  Layer.effect(
    LostProcesses,
    Effect.map(
      Store,
      ({ identity }) =>
        internals.lostProcesses ?? {
          end: (calls) => Effect.asVoid(Effect.promise(() => endLeftovers({ calls, scope: identity }))),
        },
    ),
  )

const filePlaces = (
  { database, undo = true }: EngineOptions,
  internals: EngineInternals,
): Layer.Layer<FilePlaces, never, Store | KeptOutputs> => {
  if (internals.files !== undefined) return internals.files
  if (!undo) return noFilePlaces
  return Layer.unwrap(
    Effect.gen(function* () {
      const { identity } = yield* Store
      const { folder: outputs } = yield* KeptOutputs
      const environment = process.env // oxlint-disable-line node/no-process-env -- git sees a person's environment
      const kind = storeKind(database)
      return filePlacesLayer({
        root: treesRoot({ kind, outputs, identity, environment }),
        environment,
        database: kind === "file" ? database : undefined,
      })
    }),
  )
}

const locations = (
  options: EngineOptions,
  internals: EngineInternals,
): Layer.Layer<Locations, never, Store | KeptOutputs | ExtensionHost> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const stored = yield* Store
      const { folder } = yield* KeptOutputs
      const extensions = yield* ExtensionHost
      const time = timeOf(yield* Clock.Clock)
      const guard = yield* Effect.acquireRelease(Effect.sync(openProcessGuard), (opened) =>
        Effect.promise(opened.close),
      )
      yield* Stream.runForEach(stored.leases.proofs, (ms) => Effect.sync(() => guard.expect(ms))).pipe(
        Effect.forkScoped,
      )
      const locks = openFileLocks()
      return locationsLayer((directory) =>
        openLocation({
          directory,
          options,
          time,
          guard,
          locks,
          extensions,
          outputDirectory: folder,
          scope: stored.identity,
          history: stored,
          environment: process.env, // oxlint-disable-line node/no-process-env -- a person's tools see a person's environment
          onRead: internals.onRead ?? (() => undefined),
        }),
      )
    }),
  )
