import { Failure } from "@meridian/protocol"
import { Effect, Exit, Fiber } from "effect"
import { expect, test } from "vitest"

import { attemptSoon } from "./attempt.ts"

test("who waits for a write leaves only when it is made, also when interrupted", async () => {
  const write = Promise.withResolvers<string>()
  const fiber = Effect.runFork(attemptSoon(() => write.promise))
  const order: string[] = []
  const left = Effect.runPromise(Fiber.interrupt(fiber)).then(() => order.push("left"))
  await new Promise(setImmediate)
  order.push("made")
  write.resolve("done")
  await left
  expect(order).toEqual(["made", "left"])
})

test("what is there at once, what comes later and what is refused are told as they are", async () => {
  const refusal = new Failure("ENGINE_CLOSED")
  const refused = () => {
    throw refusal
  }
  expect(await Effect.runPromise(attemptSoon(() => 1))).toBe(1)
  expect(await Effect.runPromise(attemptSoon(() => Promise.resolve(2)))).toBe(2)
  for (const body of [refused, () => Promise.reject(refusal)])
    expect(await Effect.runPromiseExit(attemptSoon(body))).toEqual(Exit.fail(refusal))
})
