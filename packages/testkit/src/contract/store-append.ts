/** The heart of a store: compare, append, all or nothing. */
import type { Appended } from "@meridian/engine/store-port"
import { Effect } from "effect"
import { array, assert, asyncProperty, constantFrom, integer, nat, record } from "fast-check"
import { expect, test } from "vitest"

import {
  acquired,
  admitted,
  append,
  asked,
  called,
  created,
  createSession,
  interrupt,
  promoted,
  said,
  seqs,
  started,
  withStore,
  testWithTwo,
  withTwo,
  type StoreUnderTest,
} from "./store-scene.ts"

export const appendContract = (subject: StoreUnderTest): void => {
  test("the first append makes the session, and numbers follow without a gap", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        expect(
          yield* append(store, { session: "ses_1", after: 0, events: [created("ses_1"), admitted("a")] }),
        ).toBe("committed")
        expect(
          yield* append(store, { session: "ses_1", after: 2, time: 9, events: [promoted("a", 2)] }),
        ).toBe("committed")
        expect(yield* store.events({ session: "ses_1", after: 0, limit: 10 })).toEqual([
          { ...created("ses_1"), seq: 1, time: 7 },
          { ...admitted("a"), seq: 2, time: 7 },
          { ...promoted("a", 2), seq: 3, time: 9 },
        ])
      }),
    ))

  test("a writer that knows less, or more, than there is has nothing stored and is told to read on", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* createSession(store, "ses_1")
        yield* append(store, { session: "ses_1", after: 1, events: [interrupt] })
        const answers = yield* Effect.forEach([0, 1, 3], (after) =>
          append(store, { session: "ses_1", after, events: [interrupt, interrupt] }),
        )
        expect([answers, yield* seqs(store, "ses_1")]).toEqual([
          ["moved", "moved", "moved"],
          [1, 2],
        ])
      }),
    ))

  test("nothing but its creation makes a session", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        expect(yield* append(store, { session: "ses_1", after: 0, events: [interrupt] })).toBe("moved")
        expect(yield* append(store, { session: "ses_1", after: 3, events: [interrupt] })).toBe("moved")
        expect(yield* store.session("ses_1")).toBeUndefined()
      }),
    ))

  test("an append of nothing proves the place and changes nothing", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* createSession(store, "ses_1")
        expect(yield* append(store, { session: "ses_1", after: 1, durability: "acknowledged" })).toBe(
          "committed",
        )
        expect(yield* append(store, { session: "ses_1", after: 0 })).toBe("moved")
        expect(yield* append(store, { session: "ses_1", after: 2 })).toBe("moved")
        expect(yield* seqs(store, "ses_1")).toEqual([1])
      }),
    ))

  test("an append of nothing proves the fence", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* createSession(store, "ses_1")
        const fence = yield* acquired(store, "ses_1")
        expect(yield* append(store, { session: "ses_1", after: 1, fence })).toBe("committed")
        const older = { ...fence, number: fence.number - 1 }
        expect(yield* append(store, { session: "ses_1", after: 1, fence: older })).toBe("fenced")
      }),
    ))

  test("a writer with an older number is fenced, whatever it knows; one without a number is not", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* createSession(store, "ses_1")
        const first = yield* acquired(store, "ses_1")
        yield* store.leases.release(first)
        const second = yield* acquired(store, "ses_1")
        const write = (fence: typeof first, after: number) =>
          append(store, { session: "ses_1", after, fence, events: [started(`s${after}`)] })
        expect(yield* write(first, 1)).toBe("fenced")
        expect(yield* write(first, 5)).toBe("fenced")
        expect(yield* write(second, 1)).toBe("committed")
        expect(yield* append(store, { session: "ses_1", after: 2, events: [interrupt] })).toBe("committed")
        expect(yield* write(second, 2)).toBe("moved")
        expect(yield* seqs(store, "ses_1")).toEqual([1, 2, 3])
      }),
    ))

  test("a name stands for one thing over all sessions: whoever brings it a second time has nothing stored", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* createSession(store, "ses_1")
        yield* createSession(store, "ses_2")
        yield* append(store, {
          session: "ses_1",
          after: 1,
          events: [admitted("a"), started("s"), called("s", "1"), asked("s", "1", "q")],
        })
        const answers = yield* Effect.forEach(
          [
            [said("x", "y"), admitted("a")],
            [admitted("s")],
            [started("t"), called("t", "1"), asked("t", "1", "q")],
          ],
          (events) => store.append({ session: "ses_2", after: 1, time: 7, events, durability: "progress" }),
        )
        expect(answers).toEqual([
          { kind: "taken", claim: { kind: "input", id: "a" } },
          { kind: "taken", claim: { kind: "input", id: "s" } },
          { kind: "taken", claim: { kind: "request", id: "q" } },
        ])
        expect(yield* seqs(store, "ses_2")).toEqual([1])
      }),
    ))

  test("what JSON does not keep is not kept", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        const event = { ...created("ses_1"), data: { ...created("ses_1").data, title: undefined } }
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a careless writer might send
        yield* append(store, { session: "ses_1", after: 0, events: [event as never] })
        const [stored] = yield* store.events({ session: "ses_1", after: 0, limit: 1 })
        expect(Object.keys(stored?.data ?? {})).toEqual(["sessionID", "location"])
      }),
    ))

  test("many sessions at once: each succeeds or fails alone", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        const names = Array.from({ length: 70 }, (_, index) => `ses_${index}`)
        yield* Effect.forEach(names, (session) => createSession(store, session), { concurrency: "unbounded" })
        const fences = yield* Effect.forEach(names, (session) => acquired(store, session))
        const answers = yield* Effect.forEach(
          fences,
          (fence, index) =>
            append(store, {
              session: fence.session,
              after: index % 3 === 1 ? 0 : 1,
              fence: index % 3 === 2 ? { ...fence, number: 0 } : fence,
              events: [started(`s${index}`)],
              durability: index % 2 === 0 ? "progress" : "act",
            }),
          { concurrency: "unbounded" },
        )
        const kinds: readonly Appended["kind"][] = ["committed", "moved", "fenced"]
        expect(answers).toEqual(names.map((_, index) => kinds[index % 3]))
        const lengths = yield* Effect.forEach(names, (session) =>
          Effect.map(seqs(store, session), ({ length }) => length),
        )
        expect(lengths).toEqual(names.map((_, index) => (index % 3 === 0 ? 2 : 1)))
      }),
    ))

  test("any walk of appends is what a list of numbers says it is", () =>
    assert(
      asyncProperty(
        array(
          record({
            session: constantFrom("a", "b"),
            off: integer({ min: -1, max: 1 }),
            count: nat(3),
          }),
          {
            maxLength: 12,
          },
        ),
        (steps) =>
          withStore(subject, (store) =>
            Effect.gen(function* () {
              const lengths = new Map([
                ["a", 1],
                ["b", 1],
              ])
              yield* createSession(store, "a")
              yield* createSession(store, "b")
              for (const { session, off, count } of steps) {
                const length = lengths.get(session) ?? 0
                const events = Array.from({ length: count }, () => interrupt)
                const kind = yield* append(store, { session, after: length + off, events })
                expect(kind).toBe(off === 0 ? "committed" : "moved")
                if (off === 0) lengths.set(session, length + count)
              }
              for (const [session, length] of lengths)
                expect(yield* seqs(store, session)).toEqual(Array.from({ length }, (_, index) => index + 1))
            }),
          ),
      ),
      { numRuns: 15 },
    ))

  testWithTwo(subject)("of two writers at one place exactly one is stored, and the other hears it", () =>
    withTwo(subject, ({ store: one }, { store: other }) =>
      Effect.gen(function* () {
        yield* createSession(one, "ses_1")
        for (let after = 1; after < 12; after += 1) {
          const answers = yield* Effect.forEach(
            [one, other],
            (store) => append(store, { session: "ses_1", after, events: [interrupt] }),
            { concurrency: 2 },
          )
          expect(answers.toSorted()).toEqual(["committed", "moved"])
        }
        expect(yield* seqs(other, "ses_1")).toHaveLength(12)
      }),
    ),
  )

  testWithTwo(subject)("of two who bring one name exactly one has it", () =>
    withTwo(subject, ({ store: one }, { store: other }) =>
      Effect.gen(function* () {
        yield* createSession(one, "ses_1")
        yield* createSession(other, "ses_2")
        const answers = yield* Effect.forEach(
          [one, other],
          (store, index) => append(store, { session: `ses_${index + 1}`, after: 1, events: [admitted("a")] }),
          { concurrency: 2 },
        )
        expect(answers.toSorted()).toEqual(["committed", "taken"])
      }),
    ),
  )
}
