import { Context, Effect, Stream } from "effect"
import { expect, test } from "vitest"

import { iterateStream } from "./iterate-stream.ts"

const CONTEXT = Context.empty()
const OVER = { done: true, value: undefined }

const all = async <Item>(iterator: AsyncIterator<Item, undefined>): Promise<readonly Item[]> => {
  const items: Item[] = []
  for await (const item of { [Symbol.asyncIterator]: () => iterator }) items.push(item)
  return items
}

test("every item comes once and in order, then it is over for good", async () => {
  const iterator = iterateStream(Stream.make(1, 2, 3), CONTEXT)
  expect(await all(iterator)).toEqual([1, 2, 3])
  expect(await iterator.next()).toEqual(OVER)
})

test("nothing is read before it is asked for, and nothing ahead", async () => {
  const read: number[] = []
  const numbers = Stream.range(1, 10).pipe(
    Stream.rechunk(1),
    Stream.tap((number) => Effect.sync(() => void read.push(number))),
  )
  const iterator = iterateStream(numbers, CONTEXT)
  const looks = [[...read]]
  for (let ask = 0; ask < 2; ask += 1) {
    await iterator.next()
    looks.push([...read])
  }
  expect(looks).toEqual([[], [1], [1, 2]])
})

test("simultaneous requests are answered in their order", async () => {
  const iterator = iterateStream(Stream.make("a", "b"), CONTEXT)
  const answers = await Promise.all([iterator.next(), iterator.next(), iterator.next()])
  expect(answers).toEqual([{ done: false, value: "a" }, { done: false, value: "b" }, OVER])
})

test("a failure is thrown once, after the items before it", async () => {
  const iterator = iterateStream(Stream.concat(Stream.make(1), Stream.fail(new Error("torn"))), CONTEXT)
  expect(await iterator.next()).toEqual({ done: false, value: 1 })
  await expect(iterator.next()).rejects.toThrow("torn")
  expect(await iterator.next()).toEqual(OVER)
})

test("leaving ends what still waits, and the stream has cleaned up by then", async () => {
  let cleaned = false
  const endless = Stream.ensuring(
    Stream.never,
    Effect.sync(() => {
      cleaned = true
    }),
  )
  const iterator = iterateStream(endless, CONTEXT)
  const waiting = iterator.next()
  expect(await iterator.return?.()).toEqual(OVER)
  expect([cleaned, await waiting]).toEqual([true, OVER])
})

test("leaving before anything was asked for reads nothing", async () => {
  let read = false
  const stream = Stream.fromEffect(
    Effect.sync(() => {
      read = true
    }),
  )
  const iterator = iterateStream(stream, CONTEXT)
  expect([await iterator.return?.(), await iterator.next(), read]).toEqual([OVER, OVER, false])
})
