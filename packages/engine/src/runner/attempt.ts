import { Failure } from "@meridian/protocol"
import { Effect } from "effect"

/** Runs synchronous store code: a Failure it throws is a typed failure, anything else is a bug and stays one. */
export const attempt = <A>(body: () => A): Effect.Effect<A, Failure> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(body())
    } catch (cause) {
      return cause instanceof Failure ? Effect.fail(cause) : Effect.die(cause)
    }
  })
