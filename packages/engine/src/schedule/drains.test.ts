import { Failure } from "@meridian/protocol"
import { Deferred, Effect, Exit, Scope } from "effect"
import { expect, test } from "vitest"

import { openDrains, type Demand, type Drains } from "./drains.ts"

const make = (drain: (session: string, demand: Demand) => Effect.Effect<void, Failure>): Promise<Drains> =>
  Effect.runPromise(Scope.provide(openDrains(drain), Scope.makeUnsafe()))

/** Each drain waits at a gate, so that a test decides when it ends and how. */
const openGated = async () => {
  const started: { readonly forced: boolean; readonly end: (exit: Exit.Exit<void, Failure>) => void }[] = []
  const arrivals: (() => void)[] = []
  const drains = await make((_session, demand) =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<void, Failure>()
      started.push({ forced: demand.forced, end: (exit) => Deferred.doneUnsafe(done, exit) })
      for (const arrived of arrivals.splice(0)) arrived()
      return Deferred.await(done)
    }),
  )
  const wake = (session: string): void => Effect.runSync(drains.wake(session))
  const untilStarted = async (count: number): Promise<void> => {
    while (started.length < count) await new Promise<void>((resolve) => arrivals.push(resolve))
  }
  return { drains, wake, started, untilStarted }
}

const failed = Exit.fail(new Failure("MODEL_FAILED", { kind: "x", message: "y", session: "a" }))

const outcome = (effect: Effect.Effect<void, Failure>): Promise<string> =>
  Effect.runPromise(
    Effect.match(effect, { onSuccess: () => "settled", onFailure: (failure) => failure.code }),
  )

test("close right after a run has settled does not wait for ever", async () => {
  const { drains, started, untilStarted } = await openGated()
  const run = outcome(drains.run("a"))
  await untilStarted(1)
  started[0]?.end(Exit.void)
  expect(await run).toBe("settled")
  await Effect.runPromise(drains.close)
  expect(drains.active()).toEqual([])
})

test("close interrupts what runs, answers its callers and refuses new work", async () => {
  const { drains, wake, untilStarted } = await openGated()
  const run = outcome(drains.run("a"))
  await untilStarted(1)
  await Effect.runPromise(drains.close)
  expect(await run).toBe("INTERRUPTED")
  wake("a")
  expect(drains.active()).toEqual([])
  expect(await outcome(drains.run("a"))).toBe("ENGINE_CLOSED")
})

test("wakes during a drain become one following drain", async () => {
  const { drains, wake, started, untilStarted } = await openGated()
  wake("a")
  await untilStarted(1)
  for (let index = 0; index < 5; index += 1) wake("a")
  const idle = outcome(drains.awaitIdle("a"))
  started[0]?.end(Exit.void)
  await untilStarted(2)
  started[1]?.end(Exit.void)
  expect(await idle).toBe("settled")
  expect(started.map(({ forced }) => forced)).toEqual([false, false])
})

test("runs join a run, and get their own drain after a wake", async () => {
  const { drains, wake, started, untilStarted } = await openGated()
  wake("a")
  await untilStarted(1)
  const first = outcome(drains.run("a"))
  const second = outcome(drains.run("a"))
  started[0]?.end(failed)
  await untilStarted(2)
  const third = outcome(drains.run("a"))
  started[1]?.end(Exit.void)
  expect(await Promise.all([first, second, third])).toEqual(["settled", "settled", "settled"])
  expect(started.map(({ forced }) => forced)).toEqual([false, true])
})

test("a failure reaches the run that asked, and the callers that waited for it", async () => {
  const { drains, started, untilStarted } = await openGated()
  const run = outcome(drains.run("a"))
  await untilStarted(1)
  const waiter = outcome(drains.awaitIdle("a"))
  started[0]?.end(failed)
  expect(await run).toBe("MODEL_FAILED")
  expect(await waiter).toBe("MODEL_FAILED")
  expect(await outcome(drains.awaitIdle("a"))).toBe("settled")
})

test("interrupt drops what was demanded before, and keeps what is demanded during its cleanup", async () => {
  const cleanup = Deferred.makeUnsafe<void>()
  const cleaning = Promise.withResolvers<void>()
  let count = 0
  const drains = await make(() =>
    Effect.suspend(() => {
      count += 1
      if (count > 1) return Effect.void
      return Effect.never.pipe(
        Effect.onInterrupt(() => Effect.sync(cleaning.resolve).pipe(Effect.andThen(Deferred.await(cleanup)))),
      )
    }),
  )
  const wake = (session: string): void => Effect.runSync(drains.wake(session))
  wake("a")
  await new Promise((resolve) => setImmediate(resolve))
  const before = outcome(drains.run("a"))
  const interrupted = outcome(drains.interrupt("a", Effect.void))
  await cleaning.promise
  wake("a")
  Deferred.doneUnsafe(cleanup, Exit.void)
  expect(await interrupted).toBe("settled")
  expect(await before).toBe("INTERRUPTED")
  await outcome(drains.awaitIdle("a"))
  expect(count).toBe(2)
})

test("a drain that wakes its own session a thousand times does not grow the stack", async () => {
  let left = 1_000
  const drains: Drains = await make(() =>
    Effect.suspend(() => {
      left -= 1
      return left > 0 ? drains.wake("a") : Effect.void
    }),
  )
  Effect.runSync(drains.wake("a"))
  await outcome(drains.awaitIdle("a"))
  expect(left).toBe(0)
})

test("a waiter that leaves takes nothing with it", async () => {
  const { drains, wake, started, untilStarted } = await openGated()
  wake("a")
  await untilStarted(1)
  const controller = new AbortController()
  const leaving = Effect.runPromiseExit(drains.awaitIdle("a"), { signal: controller.signal })
  controller.abort()
  expect(Exit.isFailure(await leaving)).toBe(true)
  expect(drains.active()).toEqual(["a"])
  started[0]?.end(Exit.void)
  await outcome(drains.awaitIdle("a"))
  expect(drains.active()).toEqual([])
})

test("a run requested during the cleanup of an interrupt gets its own drain", async () => {
  const cleanup = Deferred.makeUnsafe<void>()
  const cleaning = Promise.withResolvers<void>()
  const forced: boolean[] = []
  const drains = await make((_session, demand) =>
    Effect.suspend(() => {
      forced.push(demand.forced)
      if (forced.length > 1) return Effect.void
      return Effect.never.pipe(
        Effect.onInterrupt(() => Effect.sync(cleaning.resolve).pipe(Effect.andThen(Deferred.await(cleanup)))),
      )
    }),
  )
  const first = outcome(drains.run("a"))
  await new Promise((resolve) => setImmediate(resolve))
  const interrupted = outcome(drains.interrupt("a", Effect.void))
  await cleaning.promise
  const during = outcome(drains.run("a"))
  Deferred.doneUnsafe(cleanup, Exit.void)
  expect(await Promise.all([first, interrupted, during])).toEqual(["INTERRUPTED", "settled", "settled"])
  expect(forced).toEqual([true, true])
})

test("a caller can wait for the work before it can fail", async () => {
  const drains = await make(() => Effect.fail(new Failure("TURN_LIMIT", { session: "a", limit: 1 })))
  await Effect.runPromise(drains.wake("a"))
  expect(await outcome(drains.awaitIdle("a"))).toBe("TURN_LIMIT")
  expect(await outcome(drains.awaitIdle("a"))).toBe("settled")
})

test("work that fails before the caller was answered is not over before the caller could wait for it", async () => {
  const { drains, started, untilStarted } = await openGated()
  const answered = Deferred.makeUnsafe<void>()
  const waking = outcome(drains.wakeBeside("a", Deferred.await(answered)))
  await untilStarted(1)
  started[0]?.end(failed)
  await new Promise(setImmediate)
  expect(drains.isActive("a")).toBe(true)
  Deferred.doneUnsafe(answered, Exit.void)
  expect(await waking).toBe("settled")
  expect(await outcome(drains.awaitIdle("a"))).toBe("MODEL_FAILED")
  expect(drains.isActive("a")).toBe(false)
  expect(await outcome(drains.awaitIdle("a"))).toBe("settled")
})

test("an answer that never comes does not keep an interrupted session busy, nor the engine open", async () => {
  const { drains, untilStarted } = await openGated()
  void outcome(drains.wakeBeside("a", Effect.never))
  void outcome(drains.wakeBeside("b", Effect.never))
  await untilStarted(2)
  await Effect.runPromise(drains.interrupt("a", Effect.void))
  expect(drains.active()).toEqual(["b"])
  await Effect.runPromise(drains.close)
  expect(drains.active()).toEqual([])
})

test("a run requested while the end is held back gets its own drain", async () => {
  const { drains, started, untilStarted } = await openGated()
  const answered = Deferred.makeUnsafe<void>()
  void outcome(drains.wakeBeside("a", Deferred.await(answered)))
  await untilStarted(1)
  started[0]?.end(failed)
  await new Promise(setImmediate)
  const run = outcome(drains.run("a"))
  Deferred.doneUnsafe(answered, Exit.void)
  await untilStarted(2)
  started[1]?.end(Exit.void)
  expect(await run).toBe("settled")
  expect(started.map(({ forced }) => forced)).toEqual([false, true])
})

test("an interrupt also ends what was demanded before it", async () => {
  const { drains, wake, started, untilStarted } = await openGated()
  wake("a")
  await untilStarted(1)
  const run = outcome(drains.run("a"))
  await Effect.runPromise(drains.interrupt("a", Effect.void))
  expect(await run).toBe("INTERRUPTED")
  expect(drains.active()).toEqual([])
  expect(started).toHaveLength(1)
})
