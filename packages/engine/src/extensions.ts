/** Extensions of a running engine, as both faces offer them. */
import type { Failure } from "@meridian/protocol"
import { Context, Effect, Layer, type Scope } from "effect"

import type { ExtensionsApi } from "./api.ts"
import { checkExtension } from "./check-extension.ts"
import { ExtensionHost, type Extension } from "./extension/index.ts"
import { fromThrowing } from "./port/from-throwing.ts"

/** The extensions of one engine as an Effect service. An extension stays as long as the scope it was added in. */
export class Extensions extends Context.Service<
  Extensions,
  {
    readonly add: (extension: Extension) => Effect.Effect<void, Failure, Scope.Scope>
    readonly list: Effect.Effect<readonly string[]>
    /** The same, synchronous, for programs without Effect. */
    readonly face: ExtensionsApi
  }
>()("meridian/Extensions") {
  static readonly layer: Layer.Layer<Extensions, never, ExtensionHost> = Layer.effect(
    Extensions,
    Effect.map(ExtensionHost, (host) => makeExtensions(host)),
  )
}

const makeExtensions = (host: ExtensionHost["Service"]): Extensions["Service"] => {
  const face: ExtensionsApi = {
    add: (extension) => host.add(checkExtension(extension)),
    list: () => host.list().map(({ name }) => name),
  }
  return {
    face,
    list: Effect.sync(face.list),
    add: (extension) =>
      Effect.asVoid(
        Effect.acquireRelease(
          fromThrowing(() => face.add(extension)),
          ({ remove }) => Effect.sync(remove),
        ),
      ),
  }
}
