import { Effect } from "effect"

/** What is mostly there at once and sometimes must be waited for: only waiting costs a turn of the event loop. */
export const eventually = <A, B>(answer: A | Promise<A>, then: (answer: A) => B): Effect.Effect<B> =>
  answer instanceof Promise ? Effect.promise(() => answer.then(then)) : Effect.succeed(then(answer))
