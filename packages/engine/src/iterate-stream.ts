/**
 * A stream as an async iterator, for readers that follow a session: one fiber for the whole of it. Effect's own starts two for
 * every item, which costs more than reading the item. Nothing is read before it is asked for, and nothing ahead.
 */
import { Cause, Effect, Exit, Fiber, Stream, type Context } from "effect"

interface Asked<Item> {
  readonly answer: (result: IteratorResult<Item, undefined>) => void
  readonly refuse: (cause: unknown) => void
}

export const iterateStream = <Item, E>(
  stream: Stream.Stream<Item, E>,
  context: Context.Context<never>,
): AsyncIterator<Item, undefined> => {
  /** Whoever has asked and has no answer yet, oldest first. */
  const asked: Asked<Item>[] = []
  let goOn: (() => void) | undefined
  let fiber: Fiber.Fiber<void, E> | undefined
  let isOver = false

  const give = (value: Item): Effect.Effect<void> =>
    Effect.suspend(() => {
      asked.shift()?.answer({ done: false, value })
      if (asked.length > 0) return Effect.void
      return Effect.callback<void>((resume) => {
        goOn = () => {
          goOn = undefined
          resume(Effect.void)
        }
      })
    })

  const end = (exit: Exit.Exit<void, E>): void => {
    isOver = true
    // The first one hears why; after that it is only over.
    if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause))
      asked.shift()?.refuse(Cause.squash(exit.cause))
    for (const { answer } of asked.splice(0)) answer({ done: true, value: undefined })
  }

  const start = (): void => {
    fiber = Effect.runForkWith(context)(Stream.runForEach(stream, give))
    fiber.addObserver(end)
  }

  return {
    next: () => {
      if (isOver) return Promise.resolve({ done: true, value: undefined })
      return new Promise((answer, refuse) => {
        asked.push({ answer, refuse })
        if (fiber === undefined) start()
        else goOn?.()
      })
    },
    return: async () => {
      isOver = true
      if (fiber !== undefined) await Effect.runPromise(Fiber.interrupt(fiber))
      return { done: true, value: undefined }
    },
  }
}
