/** Sessions between stores: complete, once, and nothing acknowledged is lost on the way. */
import { rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"

import { copySessions, openEngine } from "@meridian/engine"
import type { OutputVerbs, StoreVerbs } from "@meridian/engine/store-port"
import type { Failure } from "@meridian/protocol"
import {
  acquired,
  admitted,
  append,
  created,
  createSession,
  promoted,
  seqs,
} from "@meridian/testkit/contract/store-scene"
import { Effect, type Scope } from "effect"
import { afterAll, beforeAll, expect, test } from "vitest"

import { openStore } from "../../packages/engine/src/choose-store.ts"
import { copySession, moveSession } from "../../packages/engine/src/copy/index.ts"
import { allEvents, codeOf, makeDirectory, newDatabase, openEngineScene } from "../engine-scene.ts"

let base = ""
beforeAll(() => {
  base = makeDirectory()
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

let names = 0

/** Two stores, one with a session of three events. */
const withTwoStores = <A>(
  use: (from: StoreVerbs, to: StoreVerbs) => Effect.Effect<A, Failure, Scope.Scope>,
): Promise<A> =>
  Effect.gen(function* () {
    const open = () =>
      openStore({ database: newDatabase(join(base, `${(names += 1)}`)), offer: { places: 0 } })
    const [{ store: from }, { store: to }] = [yield* open(), yield* open()]
    yield* append(from, { session: "ses_1", after: 0, events: [created("ses_1"), admitted("a", false)] })
    yield* append(from, { session: "ses_1", after: 2, time: 9, events: [promoted("a", 2)] })
    return yield* use(from, to)
  }).pipe(Effect.scoped, Effect.runPromise)

/** The sessions below have no long outputs. */
const NONE: OutputVerbs = { folder: "", keep: () => Effect.void, fetch: () => Effect.void }
const outputs = { from: NONE, to: NONE }

const codeFrom = <A>(effect: Effect.Effect<A, Failure>): Effect.Effect<A | string> =>
  Effect.match(effect, { onSuccess: (value) => value, onFailure: ({ code }) => code })

const eventsOf = (store: StoreVerbs) => store.events({ session: "ses_1", after: 0, limit: 100 })

test("a copy has the same events at the same times; the same again is there already", () =>
  withTwoStores((from, to) =>
    Effect.gen(function* () {
      expect([
        yield* copySession({ from, to, outputs, session: "ses_1" }),
        yield* copySession({ from, to, outputs, session: "ses_1" }),
      ]).toEqual(["copied", "there"])
      expect(yield* eventsOf(to)).toEqual(yield* eventsOf(from))
    }),
  ))

test("a copy that is older is brought up to date; one of the same length with another history is left alone", () =>
  withTwoStores((from, to) =>
    Effect.gen(function* () {
      const session = "ses_1"
      yield* copySession({ from, to, outputs, session })
      yield* append(from, { session, after: 3, time: 11, events: [admitted("b", false)] })
      yield* append(from, { session, after: 4, time: 12, events: [promoted("b", 4)] })
      expect(yield* copySession({ from, to, outputs, session })).toBe("copied")
      expect(yield* eventsOf(to)).toEqual(yield* eventsOf(from))
      yield* append(from, { session, after: 5, events: [admitted("c", false)] })
      yield* append(to, { session, after: 5, events: [admitted("d", false)] })
      const before = yield* eventsOf(to)
      expect([
        yield* codeFrom(copySession({ from, to, outputs, session })),
        yield* codeFrom(moveSession({ from, to, outputs, session })),
        yield* codeFrom(moveSession({ from: to, to: from, outputs, session })),
      ]).toEqual(["SESSION_EXISTS", "SESSION_EXISTS", "SESSION_EXISTS"])
      expect([yield* eventsOf(to), yield* seqs(from, session)]).toEqual([before, [1, 2, 3, 4, 5, 6]])
    }),
  ))

test("what is admitted while a session moves goes with it", () =>
  withTwoStores((source, to) =>
    Effect.gen(function* () {
      const session = "ses_1"
      let late = 0
      const sent = Effect.suspend(() => {
        late += 1
        return late > 3
          ? Effect.void
          : append(source, { session, after: 2 + late, events: [admitted(`late-${late}`)] })
      })
      const from: StoreVerbs = {
        ...source,
        // Just before the last look of the move.
        remove: (id, heldAt) => Effect.andThen(sent, source.remove(id, heldAt)),
      }
      expect(yield* moveSession({ from, to, outputs, session })).toBe("copied")
      expect(yield* source.session(session)).toBeUndefined()
      expect((yield* to.inputs(session)).map(({ id }) => id)).toEqual(["late-1", "late-2", "late-3"])
    }),
  ))

test("a session somebody works on is neither copied nor moved, and one with endless news stays where it is", () =>
  withTwoStores((from, to) =>
    Effect.gen(function* () {
      const session = "ses_1"
      const fence = yield* acquired(from, session)
      expect(yield* codeFrom(moveSession({ from, to, outputs, session }))).toBe("SESSION_IN_USE")
      expect(yield* to.session(session)).toBeUndefined()
      yield* from.leases.release(fence)
      const restless: StoreVerbs = { ...from, remove: () => Effect.succeed("moved" as const) }
      expect(yield* codeFrom(moveSession({ from: restless, to, outputs, session }))).toBe("SESSION_IN_USE")
      expect(yield* seqs(from, session)).toEqual([1, 2, 3])
      // The next holder can have it now.
      yield* from.leases.release(yield* acquired(from, session))
      yield* to.leases.release(yield* acquired(to, session))
    }),
  ))

test("one that cannot be copied keeps none of the others back", () =>
  withTwoStores((from, to) =>
    Effect.gen(function* () {
      yield* createSession(from, "ses_2")
      yield* append(to, { session: "ses_1", after: 0, events: [created("ses_1", "/elsewhere")] })
      expect(yield* codeFrom(copySession({ from, to, outputs, session: "ses_1" }))).toBe("SESSION_EXISTS")
      expect(yield* copySession({ from, to, outputs, session: "ses_2" })).toBe("copied")
    }),
  ))

test("a database is not copied into itself, under whichever name", async () => {
  await using scene = await openEngineScene()
  const before = await allEvents(scene.engine)
  const alias = scene.file.startsWith("postgres:")
    ? scene.file.replace("postgres://", "postgresql://").replace("127.0.0.1", "localhost")
    : join(scene.directory, "alias.sqlite")
  await scene.engine.close()
  if (alias.endsWith(".sqlite")) symlinkSync(scene.file, alias)
  for (const move of [false, true])
    expect(await codeOf(copySessions({ from: scene.file, to: alias, move }))).toBe("SAME_DATABASE")
  const again = await openEngine(scene.options)
  expect(await allEvents(again)).toEqual(before)
  await again.close()
})
