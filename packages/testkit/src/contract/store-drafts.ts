/** Sessions that are written before they exist. */
import type { Creation } from "@meridian/engine/store-port"
import { messageId, sessionId } from "@meridian/protocol"
import { Effect, Exit, Scope } from "effect"
import { expect, test } from "vitest"

import {
  append,
  createSession,
  seqs,
  withStore,
  testWithTwo,
  withTwo,
  type StoreUnderTest,
} from "./store-scene.ts"

const creation = (id: string): Creation => ({
  type: "session.next.created.1",
  time: 1,
  data: { sessionID: sessionId(id), location: { directory: "/project" } },
})

const prompted = (id: string, time: number) =>
  ({
    type: "session.next.prompted.1",
    time,
    data: { messageID: messageId(id), prompt: { text: id } },
  }) as const

export const draftContract = (subject: StoreUnderTest): void => {
  test("nobody sees a draft before it is published; then all of it is there, with its own times", () =>
    withStore(subject, (store) =>
      Effect.scoped(
        Effect.gen(function* () {
          const draft = yield* store.draft(creation("ses_1"))
          yield* draft.append([prompted("a", 2), prompted("b", 3)])
          yield* draft.append([prompted("c", 4)])
          expect([
            yield* store.session("ses_1"),
            yield* seqs(store, "ses_1"),
            yield* store.sessions({ direction: "up", limit: 5 }),
          ]).toEqual([undefined, [], []])
          expect(yield* draft.publish).toBe("published")
          const events = yield* store.events({ session: "ses_1", after: 0, limit: 9 })
          expect(events.map(({ seq, time }) => [seq, time])).toEqual([
            [1, 1],
            [2, 2],
            [3, 3],
            [4, 4],
          ])
          expect(yield* store.session("ses_1")).toMatchObject({ seq: 4, created: 1, updated: 4 })
          expect(yield* append(store, { session: "ses_1", after: 4 })).toBe("committed")
        }),
      ),
    ))

  test("a draft that is left goes away as a whole", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const draft = yield* Scope.provide(store.draft(creation("ses_1")), scope)
        yield* draft.append([prompted("a", 2)])
        yield* Scope.close(scope, Exit.void)
        expect([yield* store.session("ses_1"), yield* seqs(store, "ses_1")]).toEqual([undefined, []])
        expect(yield* createSession(store, "ses_1")).toBe("committed")
      }),
    ))

  test("an id that is in use by now stays with its session", () =>
    withStore(subject, (store) =>
      Effect.scoped(
        Effect.gen(function* () {
          const draft = yield* store.draft(creation("ses_1"))
          yield* draft.append([prompted("a", 2)])
          yield* createSession(store, "ses_1")
          expect(yield* draft.publish).toBe("taken")
          expect(yield* seqs(store, "ses_1")).toEqual([1])
        }),
      ),
    ))

  test("drafts that are written side by side have separate names and do not mix", () =>
    withStore(subject, (store) =>
      Effect.scoped(
        Effect.gen(function* () {
          const one = yield* store.draft(creation("ses_1"))
          const other = yield* store.draft(creation("ses_2"))
          expect(one.name).not.toBe(other.name)
          yield* one.append([prompted("a", 2)])
          yield* other.append([prompted("b", 2), prompted("c", 2)])
          yield* other.publish
          yield* one.publish
          expect([yield* seqs(store, "ses_1"), yield* seqs(store, "ses_2")]).toEqual([
            [1, 2],
            [1, 2, 3],
          ])
        }),
      ),
    ))

  testWithTwo(subject)("what a dead process left of a draft is never seen", () =>
    withTwo(subject, (one, other) =>
      Effect.gen(function* () {
        const draft = yield* one.store.draft(creation("ses_1"))
        yield* draft.append([prompted("a", 2)])
        yield* one.die
        yield* other.store.leases.abandoned
        expect(yield* other.store.sessions({ direction: "up", limit: 5 })).toEqual([])
        expect(yield* createSession(other.store, "ses_1")).toBe("committed")
        expect(yield* seqs(other.store, "ses_1")).toEqual([1])
      }),
    ),
  )
}
