import { Failure } from "@meridian/protocol"
import { Effect } from "effect"

/**
 * Runs synchronous code as an Effect. A thrown Failure becomes a typed failure; anything else is a bug and stays a defect.
 */
export const fromThrowing = <A>(body: () => A): Effect.Effect<A, Failure> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(body())
    } catch (cause) {
      return cause instanceof Failure ? Effect.fail(cause) : Effect.die(cause)
    }
  })
