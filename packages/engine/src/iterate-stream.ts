/**
 * A stream as an async iterator, for readers that follow a session, with one fiber in total. Effect's own starts two per
 * item, which costs more than reading the item. What the stream delivers in one piece, such as a page of a log, is passed
 * on without the fiber. Nothing is read before it is requested, and no piece ahead.
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
  /** Reads that still wait for an answer, oldest first. */
  const asked: Asked<Item>[] = []
  /** The current piece, and how much of it has been passed on. */
  let piece: readonly Item[] = []
  let given = 0
  let goOn: (() => void) | undefined
  let fiber: Fiber.Fiber<void, E> | undefined
  let isOver = false

  const take = (): IteratorResult<Item, undefined> | undefined => {
    if (given >= piece.length) return undefined
    const value = piece[given]
    given += 1
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- inside the piece
    return { done: false, value: value as Item }
  }

  const give = (items: readonly Item[]): Effect.Effect<void> =>
    Effect.suspend(() => {
      piece = items
      given = 0
      while (asked.length > 0) {
        const result = take()
        if (result === undefined) return Effect.void
        asked.shift()?.answer(result)
      }
      return Effect.callback<void>((resume) => {
        goOn = () => {
          goOn = undefined
          resume(Effect.void)
        }
      })
    })

  const end = (exit: Exit.Exit<void, E>): void => {
    isOver = true
    // The first reader gets the reason; after that the stream is just over.
    if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause))
      asked.shift()?.refuse(Cause.squash(exit.cause))
    for (const { answer } of asked.splice(0)) answer({ done: true, value: undefined })
  }

  const start = (): void => {
    fiber = Effect.runForkWith(context)(Stream.runForEachArray(stream, give))
    fiber.addObserver(end)
  }

  return {
    next: () => {
      if (isOver) return Promise.resolve({ done: true, value: undefined })
      const ready = take()
      if (ready !== undefined) return Promise.resolve(ready)
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
