import { Failure } from "@meridian/protocol"
import { Effect } from "effect"

/** Waits for something the store has taken on. It happens whoever waits, so nobody leaves before knowing how it ended. */
export const settled = <A>(ask: () => Promise<A>): Effect.Effect<A, Failure> =>
  Effect.uninterruptible(
    Effect.promise(() =>
      ask().then(
        (value): Effect.Effect<A, Failure> => Effect.succeed(value),
        (cause: unknown) => (cause instanceof Failure ? Effect.fail(cause) : Effect.die(cause)),
      ),
    ).pipe(Effect.flatten),
  )

/** Runs synchronous store code: a Failure it throws is a typed failure, anything else is a bug and stays one. */
export const attempt = <A>(body: () => A): Effect.Effect<A, Failure> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(body())
    } catch (cause) {
      return cause instanceof Failure ? Effect.fail(cause) : Effect.die(cause)
    }
  })
