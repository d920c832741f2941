import { Failure } from "@meridian/protocol"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { expect, test } from "vitest"

import { LIMITS } from "../domain/limits.ts"
import type { LocationServices } from "../port/location.ts"
import { Background } from "../port/time.ts"
import { Locations, locationsLayer } from "./locations.ts"

/** Locations that record when they open and close, and a clock that the test moves. */
const openHouse = (open: (directory: string) => Effect.Effect<void, Failure> = () => Effect.void) => {
  const diary: string[] = []
  const scope = Scope.makeUnsafe()
  const layer = locationsLayer((directory) =>
    Effect.gen(function* () {
      diary.push(`open ${directory}`)
      yield* Effect.addFinalizer(() => Effect.sync(() => diary.push(`close ${directory}`)))
      yield* open(directory)
      return servicesOf(directory)
    }),
  )
  const time = Effect.runSync(Layer.buildWithScope(TestClock.layer(), scope)).pipe(
    Context.add(Background, (clock) => clock),
  )
  const built = Effect.runSyncWith(time)(Layer.buildWithScope(layer, scope))
  const { within } = Context.get(built, Locations)
  const run = Effect.runPromiseWith(time)
  return {
    diary,
    visit: (directory: string) => run(within(directory, (location) => Effect.succeed(location.directory))),
    stay: (directory: string, until: Promise<void>) =>
      run(within(directory, () => Effect.promise(() => until))),
    pass: (ms: number) => run(TestClock.adjust(ms)),
    close: () => run(Scope.close(scope, Exit.void)),
  }
}

const servicesOf = (directory: string): LocationServices => ({
  directory,
  tools: Effect.die("unused"),
  observe: () => Effect.succeed([]),
  hooks: () => undefined,
  instructionsBeside: () => [],
  expand: async () => ({ parts: [], read: [] }),
  templates: async () => [],
})

test("a Location is opened once for all its sessions, and again only after it was closed", async () => {
  const { visit, diary } = openHouse()
  expect(await Promise.all([visit("/a"), visit("/a"), visit("/b")])).toEqual(["/a", "/a", "/b"])
  await visit("/a")
  expect(diary).toEqual(["open /a", "open /b"])
})

test("an unused Location is closed after the idle time, one in use never", async () => {
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

test("a Location that cannot be opened fails for its callers, leaves nothing open, and is tried again", async () => {
  let tries = 0
  const { visit, diary } = openHouse((directory) => {
    tries += 1
    return tries === 1 ? Effect.fail(new Failure("LOCATION_NOT_FOUND", { directory })) : Effect.void
  })
  await expect(visit("/a")).rejects.toMatchObject({ code: "LOCATION_NOT_FOUND" })
  expect(await visit("/a")).toBe("/a")
  expect(diary).toEqual(["open /a", "close /a", "open /a"])
})

test("closing the engine closes every Location", async () => {
  const { visit, close, diary } = openHouse()
  await visit("/a")
  await close()
  expect(diary).toEqual(["open /a", "close /a"])
})
