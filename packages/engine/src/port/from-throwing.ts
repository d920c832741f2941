import { Failure } from "@meridian/protocol"
import { Effect } from "effect"

/** Synchronous code that throws failures, as an Effect: a Failure is a typed failure, anything else is a bug and stays one. */
export const fromThrowing = <A>(body: () => A): Effect.Effect<A, Failure> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(body())
    } catch (cause) {
      return cause instanceof Failure ? Effect.fail(cause) : Effect.die(cause)
    }
  })
