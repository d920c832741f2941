/**
 * What belongs to a place rather than to a session: its tools and what they need. Built when a drain first enters the
 * place, shared by every session there, closed when nobody has been there for a while.
 */
import type { Failure, Json } from "@meridian/protocol"
import { Deferred, Effect, Exit, Scope } from "effect"

import type { ContextRegistry } from "../context/registry.ts"
import { LIMITS } from "../domain/limits.ts"
import type { ToolAdvertisement } from "../port/model.ts"
import type { ToolOutput, ToolScene } from "../port/tool.ts"
import type { World } from "../port/world.ts"

/** The tools as they are at one moment; a call through an older list is refused. */
export interface ToolSet {
  readonly advertisements: readonly ToolAdvertisement[]
  readonly call: (name: string, input: Json, scene: ToolScene) => Promise<ToolOutput>
}

export interface LocationServices {
  readonly directory: string
  readonly tools: () => ToolSet | Promise<ToolSet>
  readonly context: ContextRegistry
  /** Instruction files that stand beside a file of this place, relative to its root. */
  readonly instructionsBeside: (path: string) => readonly string[]
}

export interface Locations {
  /** The place stays open as long as `use` runs. */
  readonly within: <A>(
    directory: string,
    use: (location: LocationServices) => Effect.Effect<A, Failure>,
  ) => Effect.Effect<A, Failure>
}

interface Place {
  readonly scope: Scope.Closeable
  readonly opened: Deferred.Deferred<LocationServices, Failure>
  users: number
  /** When the last of them left, in monotonic milliseconds. */
  leftAt: number
}

export const createLocations = (options: {
  readonly open: (directory: string) => Effect.Effect<LocationServices, Failure, Scope.Scope>
  readonly world: Pick<World, "every" | "monotonic">
}): Effect.Effect<Locations, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { open, world } = options
    const all = yield* Scope.fork(yield* Effect.scope)
    const places = new Map<string, Place>()

    const openPlace = (directory: string): Place => {
      const place: Place = {
        scope: Scope.forkUnsafe(all),
        opened: Deferred.makeUnsafe(),
        users: 0,
        leftAt: 0,
      }
      places.set(directory, place)
      const opening = Effect.exit(Scope.provide(open(directory), place.scope)).pipe(
        Effect.flatMap((exit) => {
          Deferred.doneUnsafe(place.opened, exit)
          // Whoever comes next tries again.
          return Exit.isSuccess(exit) ? Effect.void : closePlace(directory, place)
        }),
      )
      Effect.runFork(Effect.forkIn(opening, all))
      return place
    }

    const closePlace = (directory: string, place: Place): Effect.Effect<void> => {
      if (places.get(directory) === place) places.delete(directory)
      return Scope.close(place.scope, Exit.void)
    }

    const enter = (directory: string) =>
      Effect.sync(() => {
        const place = places.get(directory) ?? openPlace(directory)
        place.users += 1
        return place
      })

    const leave = (place: Place) =>
      Effect.sync(() => {
        place.users -= 1
        place.leftAt = world.monotonic()
      })

    const stopSweeping = world.every(LIMITS.locationIdleMs / 2, () => {
      for (const [directory, place] of places)
        if (place.users === 0 && world.monotonic() - place.leftAt >= LIMITS.locationIdleMs)
          Effect.runFork(Effect.forkIn(closePlace(directory, place), all))
    })
    yield* Effect.addFinalizer(() => Effect.sync(stopSweeping))

    return {
      within: (directory, use) =>
        Effect.acquireUseRelease(
          enter(directory),
          (place) => Effect.flatMap(Deferred.await(place.opened), use),
          leave,
        ),
    }
  })
