/**
 * Full texts of long outputs, known by name. Tools write and read working copies in a folder of this machine; whoever keeps
 * the sessions of several machines keeps the texts for all of them.
 */
import type { Failure } from "@meridian/protocol"
import { Context, Effect, Layer, type Scope } from "effect"

import { Store, type StoreVerbs } from "./store.ts"

export class KeptOutputs extends Context.Service<KeptOutputs, OutputVerbs>()("meridian/KeptOutputs") {}

export interface OutputVerbs {
  readonly folder: string
  /** The working copy is complete: it is to be found by every process that shares the store. */
  readonly keep: (name: string) => Effect.Effect<void, Failure>
  /** Sees to it that there is a working copy, if there is such an output. */
  readonly fetch: (name: string) => Effect.Effect<void, Failure>
}

/** What an adapter opens: the sessions, and the outputs that lie beside them. */
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
