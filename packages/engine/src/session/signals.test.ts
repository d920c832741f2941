import { Effect, Exit, Layer, Queue, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { expect, test } from "vitest"

import { Store, type Change, type StoreVerbs } from "../port/store.ts"
import { Background } from "../port/time.ts"
import { Signals } from "./signals.ts"

/** A store that only announces foreign appends, and knows whether anybody listens. */
const inScene = <A>(
  use: (scene: {
    readonly signals: Signals["Service"]
    readonly appendElsewhere: (session?: string) => Effect.Effect<void>
    readonly isFollowing: () => boolean
  }) => Effect.Effect<A, never, Scope.Scope>,
): Promise<A> =>
  Effect.gen(function* () {
    const changes = yield* Queue.unbounded<Change>()
    let listeners = 0
    const store = Layer.mock(Store, {
      ...UNUSED,
      isReachable: () => true,
      now: () => 0,
      changes: Stream.fromQueue(changes).pipe(
        Stream.onStart(Effect.sync(() => void (listeners += 1))),
        Stream.ensuring(Effect.sync(() => void (listeners -= 1))),
      ),
    })
    return yield* Effect.provide(
      Effect.gen(function* () {
        const signals = yield* Signals
        return yield* use({
          signals,
          appendElsewhere: (session) =>
            Queue.offer(changes, { session }).pipe(Effect.andThen(TestClock.adjust(1)), Effect.asVoid),
          isFollowing: () => listeners > 0,
        })
      }),
      Signals.layer.pipe(Layer.provide(store)),
    )
  }).pipe(
    Effect.scoped,
    Effect.provideService(Background, (clock) => clock),
    Effect.provide(TestClock.layer()),
    Effect.runPromise,
  )

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- signals ask a store for nothing but its changes
const UNUSED = {} as Pick<StoreVerbs, "name" | "identity" | "leases">

/** Counts the signals for a session. */
const counting = (signals: Signals["Service"], session: string) =>
  Effect.gen(function* () {
    const watch = yield* signals.watch(session)
    let count = 0
    yield* watch.changed.pipe(
      Effect.andThen(Effect.sync(() => void (count += 1))),
      Effect.forever,
      Effect.forkScoped,
    )
    yield* TestClock.adjust(1)
    return () => count
  })

test("an append of this process reaches the watchers of its session, and no others", () =>
  inScene(({ signals }) =>
    Effect.gen(function* () {
      const a = yield* counting(signals, "a")
      const b = yield* counting(signals, "b")
      let foreign = 0
      const told = Effect.andThen(
        Effect.sync(() => signals.tell("a")),
        TestClock.adjust(1),
      )
      yield* signals.onForeign(() => (foreign += 1), told)
      expect([a(), b(), foreign]).toEqual([1, 0, 0])
    }),
  ))

test("signals that come faster than they are heard become one, and none is lost", () =>
  inScene(({ signals }) =>
    Effect.gen(function* () {
      const watch = yield* signals.watch("a")
      signals.tell("a")
      signals.tell("a")
      yield* watch.changed
      const second = yield* Effect.forkScoped(watch.changed)
      yield* TestClock.adjust(1)
      expect(second.pollUnsafe()).toBeUndefined()
      signals.tell("a")
      yield* TestClock.adjust(1)
      expect(second.pollUnsafe()).toEqual(Exit.void)
    }),
  ))

test("an append of another process reaches its session, or every watcher when the session is unknown", () =>
  inScene(({ signals, appendElsewhere }) =>
    Effect.gen(function* () {
      const a = yield* counting(signals, "a")
      const b = yield* counting(signals, "b")
      const seen: (string | undefined)[] = []
      yield* signals.onChange((session) => seen.push(session))
      yield* appendElsewhere("a")
      expect([a(), b()]).toEqual([1, 0])
      yield* appendElsewhere()
      expect([a(), b(), seen]).toEqual([2, 1, ["a", undefined]])
    }),
  ))

test("other processes are followed while there are watchers, and a little longer", () =>
  inScene(({ signals, isFollowing }) =>
    Effect.gen(function* () {
      expect(isFollowing()).toBe(false)
      const watching = yield* Scope.make()
      yield* Scope.provide(signals.watch("a"), watching)
      yield* TestClock.adjust(5_000)
      expect(isFollowing()).toBe(true)
      yield* Scope.close(watching, Exit.void)
      expect(isFollowing()).toBe(true)
      yield* TestClock.adjust(1_000)
      expect(isFollowing()).toBe(false)
      yield* signals.watch("a")
      yield* TestClock.adjust(1)
      expect(isFollowing()).toBe(true)
    }),
  ))

test("live fragments reach connected readers, and are lost otherwise", () =>
  inScene(({ signals }) =>
    Effect.gen(function* () {
      const event = { type: "compaction.delta", data: { compactionID: "c", delta: "x" } } as const
      signals.publishLive("a", event)
      const seen: unknown[] = []
      const connected = yield* Scope.make()
      yield* Scope.provide(
        signals.onLive("a", (received) => seen.push(received)),
        connected,
      )
      signals.publishLive("a", event)
      signals.publishLive("b", event)
      yield* Scope.close(connected, Exit.void)
      signals.publishLive("a", event)
      expect(seen).toEqual([event])
    }),
  ))
