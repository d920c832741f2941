/** Who may write, what other clients learn, and the kept outputs. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import type { StoreVerbs } from "@meridian/engine/store-port"
import { Effect, Fiber, Stream } from "effect"
import { expect, test } from "vitest"

import {
  acquired,
  append,
  createSession,
  interrupt,
  withStore,
  testWithTwo,
  withTwo,
  type StoreUnderTest,
} from "./store-scene.ts"

export const leaseContract = (subject: StoreUnderTest): void => {
  test("a lease is given once, and its number only grows", () =>
    withStore(subject, ({ leases, ...store }) =>
      Effect.gen(function* () {
        yield* createSession({ leases, ...store }, "ses_1")
        const first = yield* leases.acquire("ses_1")
        expect(first).toMatchObject({ kind: "acquired", abandoned: false, seq: 1 })
        expect(yield* leases.acquire("ses_1")).toEqual({ kind: "held" })
        if (first.kind !== "acquired") return
        yield* leases.release(first.fence)
        const second = yield* acquired({ leases, ...store }, "ses_1")
        expect(second.number).toBeGreaterThan(first.fence.number)
        expect([yield* leases.renew(first.fence), yield* leases.renew(second)]).toEqual(["lost", "kept"])
      }),
    ))

  test("a resting lease is taken up again, and nothing of it counts as abandoned", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* createSession(store, "ses_1")
        const fence = yield* acquired(store, "ses_1")
        yield* append(store, { session: "ses_1", after: 1, fence, events: [interrupt] })
        yield* store.leases.rest(fence)
        const again = yield* store.leases.acquire("ses_1")
        expect(again).toMatchObject({ kind: "acquired", abandoned: false, seq: 2 })
        // The same number, or a newer one when the moment was over.
        expect(again.kind === "acquired" && again.fence.number >= fence.number).toBe(true)
      }),
    ))

  testWithTwo(subject)(
    "what one process holds is held for the others, until it is given back or has rested",
    () =>
      withTwo(subject, ({ store: one }, { store: other }) =>
        Effect.gen(function* () {
          yield* createSession(one, "ses_1")
          const fence = yield* acquired(one, "ses_1")
          expect(yield* other.leases.acquire("ses_1")).toEqual({ kind: "held" })
          expect([
            yield* one.leases.isHeldElsewhere("ses_1"),
            yield* other.leases.isHeldElsewhere("ses_1"),
            (yield* other.session("ses_1"))?.isHeldElsewhere,
          ]).toEqual([false, true, true])
          yield* one.leases.release(fence)
          const second = yield* acquired(other, "ses_1")
          yield* other.leases.rest(second)
          yield* Effect.sleep(1_000)
          expect((yield* acquired(one, "ses_1")).number).toBeGreaterThan(second.number)
        }),
      ),
  )

  testWithTwo(subject)(
    "what a dead process held is free at once, known as abandoned, and its writes are fenced",
    () =>
      withTwo(subject, (one, { store: other }) =>
        Effect.gen(function* () {
          yield* createSession(one.store, "ses_1")
          yield* createSession(one.store, "ses_2")
          const fence = yield* acquired(one.store, "ses_1")
          expect(yield* other.leases.abandoned).toEqual([])
          yield* one.die
          expect(yield* other.leases.abandoned).toEqual(["ses_1"])
          expect(yield* other.leases.acquire("ses_1")).toMatchObject({ kind: "acquired", abandoned: true })
          expect(yield* other.leases.abandoned).toEqual([])
          expect(yield* append(one.store, { session: "ses_1", after: 1, fence, events: [interrupt] })).toBe(
            "fenced",
          )
        }),
      ),
  )

  testWithTwo(subject)("an owner that was lost is told, until its sessions are taken over", () =>
    withTwo(subject, (one, { store: other }) =>
      Effect.gen(function* () {
        yield* createSession(one.store, "ses_1")
        yield* acquired(one.store, "ses_1")
        const told = yield* Effect.forkChild(Stream.runHead(other.leases.lost), { startImmediately: true })
        yield* Effect.sleep(5_000)
        expect(told.pollUnsafe()).toBeUndefined()
        yield* one.die
        yield* Fiber.join(told)
        expect(yield* other.leases.abandoned).toEqual(["ses_1"])
      }),
    ),
  )

  testWithTwo(subject)("a living owner keeps its session, however long it works", () =>
    withTwo(subject, ({ store: one }, { store: other }, leaseMs) =>
      Effect.gen(function* () {
        yield* createSession(one, "ses_1")
        yield* acquired(one, "ses_1")
        for (let look = 0; look < 12; look += 1) {
          expect(yield* other.leases.acquire("ses_1")).toEqual({ kind: "held" })
          yield* Effect.sleep(Math.floor(leaseMs / 3))
        }
      }),
    ),
  )

  testWithTwo(subject)("appends of others are hinted at, own ones are not", () =>
    withTwo(subject, ({ store: one }, { store: other }) =>
      Effect.gen(function* () {
        yield* createSession(one, "ses_1")
        const hint = yield* Effect.forkChild(Stream.runHead(one.changes), { startImmediately: true })
        yield* Effect.sleep(500)
        yield* append(one, { session: "ses_1", after: 1, events: [interrupt] })
        yield* Effect.sleep(500)
        expect(hint.pollUnsafe()).toBeUndefined()
        let after = 2
        // One hint may be lost, but not all of them.
        const isHeard = (by: StoreVerbs, heard: Fiber.Fiber<unknown, unknown>) =>
          Effect.gen(function* () {
            for (const end = after + 40; after < end && heard.pollUnsafe() === undefined; after += 1) {
              yield* append(by, { session: "ses_1", after, events: [interrupt] })
              yield* Effect.sleep(200)
            }
            return heard.pollUnsafe() !== undefined
          })
        expect(yield* isHeard(other, hint)).toBe(true)
        const back = yield* Effect.forkChild(Stream.runHead(other.changes), { startImmediately: true })
        expect(yield* isHeard(one, back)).toBe(true)
      }),
    ),
  )

  test("an output that was kept is found again when its working copy is gone", () =>
    withStore(subject, (_store, outputs) =>
      Effect.gen(function* () {
        mkdirSync(outputs.folder, { recursive: true })
        const file = join(outputs.folder, "tool_0123456789abcdef01234567.txt")
        writeFileSync(file, "all of it")
        yield* outputs.keep("tool_0123456789abcdef01234567.txt")
        yield* outputs.fetch("tool_0123456789abcdef01234567.txt")
        expect(readFileSync(file, "utf8")).toBe("all of it")
        rmSync(file)
        yield* outputs.fetch("tool_00000000000000000000none.txt")
      }),
    ))

  testWithTwo(subject)("an output that one process kept is there for another", () =>
    withTwo(subject, ({ outputs: one }, { outputs: other }) =>
      Effect.gen(function* () {
        const name = "tool_0123456789abcdef01234567.txt"
        mkdirSync(one.folder, { recursive: true })
        writeFileSync(join(one.folder, name), "all of it")
        yield* one.keep(name)
        yield* other.fetch(name)
        expect(readFileSync(join(other.folder, name), "utf8")).toBe("all of it")
      }),
    ),
  )

  test("the store has its own name", () =>
    withStore(subject, ({ name }) =>
      Effect.sync(() => {
        expect(name).not.toBe("")
      }),
    ))
}
