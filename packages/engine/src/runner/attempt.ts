import { Failure } from "@meridian/protocol"
import { Effect, Exit } from "effect"

/** Runs synchronous store code: a Failure it throws is a typed failure, anything else is a bug and stays one. */
export const attempt = <A>(body: () => A): Effect.Effect<A, Failure> => Effect.suspend(() => attemptNow(body))

/** As `attempt`, but on the spot: to be yielded right where it is written. A generator goes on from it without a pause. */
export const attemptNow = <A>(body: () => A): Exit.Exit<A, Failure> => {
  try {
    return Exit.succeed(body())
  } catch (cause) {
    return asFailure(cause)
  }
}

/**
 * As `attemptNow`, for store code that may have to wait. What it took on happens whoever waits, so nobody leaves before
 * knowing how it ended.
 */
export const attemptSoon = <A>(body: () => A | Promise<A>): Effect.Effect<A, Failure> => {
  try {
    const answer = body()
    return answer instanceof Promise ? Effect.uninterruptible(awaited(answer)) : Exit.succeed(answer)
  } catch (cause) {
    return asFailure(cause)
  }
}

const awaited = <A>(promise: Promise<A>): Effect.Effect<A, Failure> =>
  Effect.callback((resume) => {
    promise.then(
      (value) => resume(Effect.succeed(value)),
      (cause: unknown) => resume(asFailure(cause)),
    )
  })

const asFailure = (cause: unknown): Exit.Exit<never, Failure> =>
  cause instanceof Failure ? Exit.fail(cause) : Exit.die(cause)
