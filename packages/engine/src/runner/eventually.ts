import { Effect } from "effect"

/** What is mostly there at once and sometimes must be waited for: only waiting costs a turn of the event loop. */
export const eventually = <A>(answer: A | Promise<A>): Effect.Effect<A> =>
  answer instanceof Promise ? Effect.promise(() => answer) : Effect.succeed(answer)
