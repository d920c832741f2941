/** The boundary between the driver's promises and the port's effects. */
import { Failure } from "@meridian/protocol"
import { Effect, Queue, Stream } from "effect"

/** What a server refuses becomes a coded failure. A bug stays a defect. */
export const ask = <A>(body: () => Promise<A>): Effect.Effect<A, Failure> =>
  Effect.flatten(
    Effect.promise(() =>
      body().then(
        (answer) => Effect.succeed(answer),
        (cause: unknown) => (cause instanceof Failure ? Effect.fail(cause) : Effect.die(cause)),
      ),
    ),
  )

/** A stream of what a listener hears, for as long as it is followed. */
export const heard = <A>(listen: (hear: (value: A) => void) => () => void): Stream.Stream<A> =>
  Stream.callback<A>((told) =>
    Effect.acquireRelease(
      Effect.sync(() => listen((value) => void Queue.offerUnsafe(told, value))),
      (leave) => Effect.sync(leave),
    ),
  )
