import { expect, test } from "vitest"

import { waitAfterAbort } from "./wait-after-abort.ts"

const begin = (graceMs: number) => {
  const caller = new AbortController()
  const work = Promise.withResolvers<string>()
  const told: string[] = []
  const outcome = waitAfterAbort({ signal: caller.signal, graceMs }, (stop) => {
    stop.addEventListener("abort", () => told.push("stop"))
    return work.promise
  })
  return { caller, work, told, outcome: outcome.catch((cause: unknown) => String(cause)) }
}

test("what ends within the grace is what happened, and was not told to stop", async () => {
  const { caller, work, told, outcome } = begin(60_000)
  caller.abort()
  work.resolve("done after all")
  expect([await outcome, told]).toEqual(["done after all", []])
})

test("after the grace the work is told to stop, and the call was interrupted", async () => {
  const { caller, told, outcome } = begin(1)
  caller.abort()
  expect([await outcome, told]).toEqual(["ToolError: The call was interrupted.", ["stop"]])
})

test("nothing begins for a caller who has aborted before", async () => {
  const caller = new AbortController()
  caller.abort()
  let begun = false
  const outcome = waitAfterAbort({ signal: caller.signal, graceMs: 1 }, async () => {
    begun = true
  })
  await expect(outcome).rejects.toThrow("interrupted")
  expect(begun).toBe(false)
})
