import { Failure } from "@meridian/protocol"
import { Effect, Exit, Scope } from "effect"
import { expect, test } from "vitest"

import { createContextRegistry } from "../context/registry.ts"
import { LIMITS } from "../domain/limits.ts"
import { createLocations, type LocationServices } from "./locations.ts"

/** Places that say when they are opened and closed, and a clock that moves when told to. */
const openHouse = (open: (directory: string) => Effect.Effect<void, Failure> = () => Effect.void) => {
  const diary: string[] = []
  const ticks: (() => void)[] = []
  let monotonic = 0
  const scope = Scope.makeUnsafe()
  const locations = Effect.runSync(
    Scope.provide(
      createLocations({
        world: {
          every: (_ms, tick) => {
            ticks.push(tick)
            return () => undefined
          },
          monotonic: () => monotonic,
        },
        open: (directory) =>
          Effect.gen(function* () {
            diary.push(`open ${directory}`)
            yield* Effect.addFinalizer(() => Effect.sync(() => diary.push(`close ${directory}`)))
            yield* open(directory)
            return servicesOf(directory)
          }),
      }),
      scope,
    ),
  )
  return {
    diary,
    visit: (directory: string) =>
      Effect.runPromise(locations.within(directory, (place) => Effect.succeed(place.directory))),
    stay: (directory: string, until: Promise<void>) =>
      Effect.runPromise(locations.within(directory, () => Effect.promise(() => until))),
    pass: async (ms: number) => {
      monotonic += ms
      for (const tick of ticks) tick()
      await new Promise(setImmediate)
    },
    close: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  }
}

const servicesOf = (directory: string): LocationServices => ({
  directory,
  tools: () => Promise.reject(new Error("unused")),
  context: createContextRegistry(),
  instructionsBeside: () => [],
})

test("a place is opened once for all who are there, and again only when it was closed", async () => {
  const { visit, diary } = openHouse()
  expect(await Promise.all([visit("/a"), visit("/a"), visit("/b")])).toEqual(["/a", "/a", "/b"])
  await visit("/a")
  expect(diary).toEqual(["open /a", "open /b"])
})

test("a place nobody uses is closed after the idle time, one in use never", async () => {
  const { visit, stay, pass, diary } = openHouse()
  const leaving = Promise.withResolvers<void>()
  const staying = stay("/b", leaving.promise)
  await visit("/a")
  await pass(LIMITS.locationIdleMs - 1)
  expect(diary).toEqual(["open /b", "open /a"])
  await pass(1)
  expect(diary).toEqual(["open /b", "open /a", "close /a"])
  leaving.resolve()
  await staying
  await pass(LIMITS.locationIdleMs - 1)
  expect(diary.at(-1)).toBe("close /a")
  await visit("/a")
  expect(diary.at(-1)).toBe("open /a")
})

test("a place that cannot be opened fails for who came, leaves nothing open, and is tried again", async () => {
  let tries = 0
  const { visit, diary } = openHouse((directory) => {
    tries += 1
    return tries === 1 ? Effect.fail(new Failure("LOCATION_NOT_FOUND", { directory })) : Effect.void
  })
  await expect(visit("/a")).rejects.toMatchObject({ code: "LOCATION_NOT_FOUND" })
  expect(await visit("/a")).toBe("/a")
  expect(diary).toEqual(["open /a", "close /a", "open /a"])
})

test("closing the engine closes every place", async () => {
  const { visit, close, diary } = openHouse()
  await visit("/a")
  await close()
  expect(diary).toEqual(["open /a", "close /a"])
})
