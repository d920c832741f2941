/** The edge between promises of the driver and effects of the port. */
import { Failure } from "@meridian/protocol"
import { Effect, Queue, Stream } from "effect"

/** What a server says no to is a failure with a code; a bug stays one. */
export const ask = <A>(body: () => Promise<A>): Effect.Effect<A, Failure> =>
  Effect.flatten(
    Effect.promise(() =>
      body().then(
        (answer) => Effect.succeed(answer),
        (cause: unknown) => (cause instanceof Failure ? Effect.fail(cause) : Effect.die(cause)),
      ),
    ),
  )

/** What a listener hears, for as long as somebody follows. */
export const heard = <A>(listen: (hear: (value: A) => void) => () => void): Stream.Stream<A> =>
  Stream.callback<A>((told) =>
    Effect.acquireRelease(
      Effect.sync(() => listen((value) => void Queue.offerUnsafe(told, value))),
      (leave) => Effect.sync(leave),
    ),
  )
