/**
 * The Locations that sessions work in. A Location opens when a drain first enters it. All sessions there share it. It
 * closes after it has been empty for a while.
 */
import type { Failure } from "@meridian/protocol"
import { Clock, Context, Deferred, Effect, Exit, Layer, Scope } from "effect"

import { LIMITS } from "../domain/limits.ts"
import type { LocationServices } from "../port/location.ts"
import { inBackground, monotonicMs } from "../port/time.ts"

export class Locations extends Context.Service<
  Locations,
  {
    /** Keeps the Location open while `use` runs. */
    readonly within: <A, R>(
      directory: string,
      use: (location: LocationServices) => Effect.Effect<A, Failure, R>,
    ) => Effect.Effect<A, Failure, R>
  }
>()("meridian/Locations") {}

export type OpenLocation = (directory: string) => Effect.Effect<LocationServices, Failure, Scope.Scope>

export const locationsLayer = (open: OpenLocation): Layer.Layer<Locations> =>
  Layer.effect(Locations, makeLocations(open))

interface Shared {
  readonly scope: Scope.Closeable
  readonly opened: Deferred.Deferred<LocationServices, Failure>
  users: number
  /** When the last session left, in monotonic milliseconds. */
  leftAt: number
}

const makeLocations = (open: OpenLocation): Effect.Effect<Locations["Service"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const all = yield* Scope.fork(yield* Effect.scope)
    const shared = new Map<string, Shared>()

    const close = (directory: string, location: Shared): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (shared.get(directory) === location) shared.delete(directory)
        return Scope.close(location.scope, Exit.void)
      })

    const opening = (directory: string, location: Shared): Effect.Effect<void> =>
      Effect.exit(Scope.provide(open(directory), location.scope)).pipe(
        Effect.flatMap((exit) => {
          Deferred.doneUnsafe(location.opened, exit)
          // The next session that enters tries again.
          return Exit.isSuccess(exit) ? Effect.void : close(directory, location)
        }),
      )

    const enter = (directory: string): Effect.Effect<Shared> =>
      Effect.suspend(() => {
        const there = shared.get(directory)
        if (there !== undefined) {
          there.users += 1
          return Effect.succeed(there)
        }
        const location: Shared = {
          scope: Scope.forkUnsafe(all),
          opened: Deferred.makeUnsafe(),
          users: 1,
          leftAt: 0,
        }
        shared.set(directory, location)
        return Effect.as(
          Effect.forkIn(opening(directory, location), all, { startImmediately: true }),
          location,
        )
      })

    const leave = (location: Shared): Effect.Effect<void> =>
      Effect.sync(() => {
        location.users -= 1
        location.leftAt = monotonicMs(clock)
      })

    const closeIdle = Effect.suspend(() => {
      const idle = [...shared].filter(
        ([, { users, leftAt }]) => users === 0 && monotonicMs(clock) - leftAt >= LIMITS.locationIdleMs,
      )
      return Effect.forEach(idle, ([directory, location]) => close(directory, location), { discard: true })
    })
    yield* closeIdle.pipe(
      Effect.delay(LIMITS.locationIdleMs / 2),
      Effect.forever,
      inBackground,
      Effect.forkScoped,
    )

    return {
      within: (directory, use) =>
        Effect.acquireUseRelease(
          enter(directory),
          ({ opened }) => Effect.flatMap(Deferred.await(opened), use),
          leave,
        ),
    }
  })
