/**
 * The full texts of long outputs, known by name. Tools read and write working copies in a folder of this machine. A store
 * that several machines share also keeps the texts for all of them.
 */
import type { Failure } from "@meridian/protocol"
import { Context, Effect, Layer, type Scope } from "effect"

import { Store, type StoreVerbs } from "./store.ts"

export class KeptOutputs extends Context.Service<KeptOutputs, OutputVerbs>()("meridian/KeptOutputs") {}

export interface OutputVerbs {
  readonly folder: string
  /** The working copy is complete. Makes it available to every process that shares the store. */
  readonly keep: (name: string) => Effect.Effect<void, Failure>
  /** Ensures that a working copy exists, if the store has such an output. */
  readonly fetch: (name: string) => Effect.Effect<void, Failure>
}

/** What an adapter opens: the sessions, and the outputs kept beside them. */
export interface OpenedStore {
  readonly store: StoreVerbs
  readonly outputs: OutputVerbs
}

export const storeLayer = <R>(
  open: Effect.Effect<OpenedStore, Failure, R>,
): Layer.Layer<Store | KeptOutputs, Failure, Exclude<R, Scope.Scope>> =>
  Layer.effectContext(
    Effect.map(open, ({ store, outputs }) =>
      Context.make(Store, store).pipe(Context.add(KeptOutputs, outputs)),
    ),
  )
