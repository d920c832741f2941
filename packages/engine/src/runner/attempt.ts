import { Failure } from "@meridian/protocol"
import { Effect } from "effect"

/** Runs synchronous store code: a Failure it throws is a typed failure, anything else is a bug and stays one. */
export const attempt = <A>(body: () => A): Effect.Effect<A, Failure> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(body())
    } catch (cause) {
      return asFailure(cause)
    }
  })

/** Store code that may have to wait. What it took on happens whoever waits, so nobody leaves before knowing how it ended. */
export const attemptSoon = <A>(body: () => A | Promise<A>): Effect.Effect<A, Failure> =>
  Effect.uninterruptible(
    Effect.suspend(() => {
      try {
        const answer = body()
        return answer instanceof Promise ? awaited(answer) : Effect.succeed(answer)
      } catch (cause) {
        return asFailure(cause)
      }
    }),
  )

const awaited = <A>(promise: Promise<A>): Effect.Effect<A, Failure> =>
  Effect.callback((resume) => {
    promise.then(
      (value) => resume(Effect.succeed(value)),
      (cause: unknown) => resume(asFailure(cause)),
    )
  })

const asFailure = (cause: unknown): Effect.Effect<never, Failure> =>
  cause instanceof Failure ? Effect.fail(cause) : Effect.die(cause)
