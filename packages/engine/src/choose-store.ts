/** Chooses a store by the name of its database: a file, memory, or a server. */
import { existsSync, realpathSync } from "node:fs"
import { resolve } from "node:path"

import type { Failure } from "@meridian/protocol"
import { Clock, Context, Effect, Layer, type Scope } from "effect"

import { DEFAULT_LIMITS } from "./domain/limits.ts"
import { openIds } from "./ids.ts"
import { Ids } from "./port/ids.ts"
import { KeptOutputs, type OpenedStore } from "./port/kept-outputs.ts"
import { Store } from "./port/store.ts"
import { isServerAddress } from "./store/postgres/address.ts"
import type { NodeOffer } from "./store/postgres/workers.ts"
import { sqliteStore, type SqliteOptions } from "./store/sqlite/store.ts"

export interface StorePlace {
  readonly database: string
  readonly leaseMs?: number | undefined
  /** On a server: updates an older schema. */
  readonly migrate?: boolean
  /** On a server: what this process offers to sessions. */
  readonly offer?: Partial<NodeOffer>
  /** On a server: the token of the cluster. */
  readonly token?: string | undefined
  /** Replaced only in tests. */
  readonly sqlite?: Omit<SqliteOptions, "file" | "leaseMs"> | undefined
}

export const chooseStore = (place: StorePlace): Layer.Layer<Store | KeptOutputs, Failure, Ids> =>
  isServerAddress(place.database) ? postgres(place) : sqlite(place)

export const storeKind = (database: string): "file" | "memory" | "server" =>
  isServerAddress(database) ? "server" : database === ":memory:" ? "memory" : "file"

/** Opens a store alone, without an engine. */
export const openStore = (place: StorePlace): Effect.Effect<OpenedStore, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const ids = Layer.succeed(
      Ids,
      openIds(() => clock.currentTimeMillisUnsafe()),
    )
    const context = yield* Layer.build(chooseStore(place).pipe(Layer.provide(ids)))
    return { store: Context.get(context, Store), outputs: Context.get(context, KeptOutputs) }
  })

const sqlite = ({ database, leaseMs = DEFAULT_LIMITS.leaseMs, sqlite: more }: StorePlace) =>
  sqliteStore({ ...more, file: database === ":memory:" ? database : fileItself(resolve(database)), leaseMs })

/** SQLite looks for the log beside the database file itself, not beside a link to it. */
const fileItself = (path: string): string => (existsSync(path) ? realpathSync(path) : path)

/** Loaded only on use, so that a command on a file does not pay for it. */
const postgres = ({
  database: address,
  leaseMs = SERVER_LEASE_MS,
  migrate = false,
  offer = {},
  token,
}: StorePlace): Layer.Layer<Store | KeptOutputs, Failure, Ids> =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("./store/postgres/store.ts")),
      ({ postgresStore }) => postgresStore({ address, migrate, leaseMs, offer, token }),
    ),
  )

/** Shorter than on one machine, where a dead process can be recognised. */
const SERVER_LEASE_MS = 5_000
