/** What is read back: events, messages, inputs, and the lists across all sessions. */
import type { EventFrames, StoreVerbs } from "@meridian/engine/store-port"
import { messageId, sessionId, type DurableEvent, type Failure } from "@meridian/protocol"
import { Effect } from "effect"
import { expect, test } from "vitest"

import {
  acquired,
  admitted,
  append,
  asked,
  called,
  created,
  createSession,
  ended,
  interrupt,
  promoted,
  replied,
  said,
  seqs,
  started,
  succeeded,
  testWithTwo,
  withStore,
  withTwo,
  type StoreUnderTest,
} from "./store-scene.ts"

const asking = (id: string, text: string): DurableEvent => ({
  type: "session.next.prompt.admitted.1",
  data: { messageID: messageId(id), prompt: { text }, delivery: "steer", resume: true },
})

const titled = (title: string): DurableEvent => ({
  type: "session.next.titled.1",
  data: {
    title,
    model: "m",
    usage: { input: 1, output: 2, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
    cost: 0.25,
  },
})

const COMPACTED: DurableEvent = {
  type: "session.next.compaction.ended.2",
  data: {
    compactionID: "cmp_1",
    reason: "manual",
    method: "model",
    summary: "what was said",
    recent: "",
    range: { from: 1, through: 3 },
    kept: [],
    messages: 1,
    tokens: { before: 10, after: 5 },
    usage: { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
    cost: 0.25,
    removedQuotes: [],
  },
}

/** A session in which most things happened once. */
const CONVERSATION: readonly DurableEvent[] = [
  created("ses_1"),
  admitted("a"),
  promoted("a", 2),
  started("s"),
  said("s", "I look for walrus"),
  called("s", "1"),
  ended("s"),
  succeeded("s", "1"),
  { type: "session.next.agent.switched.1", data: { agent: "plan" } },
  COMPACTED,
  started("t"),
  called("t", "1"),
  asked("t", "1", "per_1"),
  admitted("b", false),
]

const tell = (store: StoreVerbs): Effect.Effect<unknown, Failure> =>
  append(store, { session: "ses_1", after: 0, events: CONVERSATION })

export const readingContract = (subject: StoreUnderTest): void => {
  test("events are read by range, and a session that is not there has none", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* tell(store)
        const read = (after: number, limit: number) =>
          Effect.map(store.events({ session: "ses_1", after, limit }), (page) => page.map(({ seq }) => seq))
        expect([yield* read(0, 3), yield* read(3, 2), yield* read(13, 9), yield* read(14, 9)]).toEqual([
          [1, 2, 3],
          [4, 5],
          [14],
          [],
        ])
        expect(yield* store.events({ session: "ses_none", after: 0, limit: 5 })).toEqual([])
        expect(yield* store.session("ses_none")).toBeUndefined()
      }),
    ))

  test("a page ends with the event or the input that reaches a size", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        const long = (id: string): DurableEvent => ({
          type: "session.next.prompt.admitted.1",
          data: {
            messageID: messageId(id),
            prompt: { text: "x".repeat(500) },
            delivery: "queue",
            resume: false,
          },
        })
        yield* createSession(store, "ses_1")
        yield* append(store, { session: "ses_1", after: 1, events: [long("a"), long("b"), long("c")] })
        const lasts = (bytes: number) =>
          Effect.map(store.eventFrames({ session: "ses_1", after: 1, limit: 9, bytes }), (page) => page?.last)
        expect([yield* lasts(1), yield* lasts(700), yield* lasts(1_000_000)]).toEqual([2, 3, 4])
        const inputs = (after: number, limit: number, bytes: number) =>
          Effect.map(store.inputs("ses_1", { after, limit, bytes }), (page) => page.map(({ id }) => id))
        expect(yield* inputs(0, 9, 700)).toEqual(["a", "b"])
        expect(yield* inputs(3, 9, 1_000_000)).toEqual(["c"])
        expect(yield* inputs(0, 1, 1_000_000)).toEqual(["a"])
      }),
    ))

  test("as frames events say the same, however often and in however large pages they are read", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* tell(store)
        const events = yield* store.events({ session: "ses_1", after: 0, limit: 100 })
        for (const limit of [100, 1, 3, 100]) {
          const read: EventFrames[] = []
          for (;;) {
            const page = yield* store.eventFrames({ session: "ses_1", after: read.at(-1)?.last ?? 0, limit })
            if (page !== undefined) read.push(page)
            if (page?.more !== true) break
          }
          const frames = Buffer.concat(read.map((page) => page.frames)).toString()
          const blocks = [...frames.matchAll(/id: (\d+)\ndata: (.*)\n\n/g)]
          expect(blocks.map(([block]) => block).join("")).toBe(frames)
          expect(blocks.map(([, id]) => Number(id))).toEqual(events.map(({ seq }) => seq))
          expect(blocks.map(([, , json = ""]) => JSON.parse(json) as unknown)).toEqual(events)
          expect(read.map(({ first }) => first)).toEqual([
            1,
            ...read.slice(0, -1).map(({ last }) => last + 1),
          ])
        }
        expect(yield* store.eventFrames({ session: "ses_1", after: events.length, limit: 9 })).toBe(undefined)
        expect(yield* store.eventFrames({ session: "ses_none", after: 0, limit: 9 })).toBe(undefined)
      }),
    ))

  testWithTwo(subject)(
    "another process reads the same pages of frames, also of a session it never read",
    () =>
      withTwo(subject, ({ store: one }, { store: other }) =>
        Effect.gen(function* () {
          yield* tell(one)
          const pages = (store: StoreVerbs, bytes: number) =>
            Effect.gen(function* () {
              const read: string[] = []
              for (let after = 0, more = true; more;) {
                const page = yield* store.eventFrames({ session: "ses_1", after, limit: 5, bytes })
                if (page === undefined) break
                read.push(`${page.first} ${page.last} ${Buffer.from(page.frames).toString()}`)
                ;({ last: after, more } = page)
              }
              return read
            })
          for (const bytes of [300, 1_000_000]) {
            const expected = yield* pages(one, bytes)
            expect(expected.length).toBeGreaterThan(2)
            expect(yield* pages(other, bytes)).toEqual(expected)
          }
          yield* other.events({ session: "ses_1", after: 0, limit: 4 })
          expect(yield* pages(other, 300)).toEqual(yield* pages(one, 300))
          expect(yield* other.eventFrames({ session: "ses_1", after: 14, limit: 9 })).toBeUndefined()
          expect(yield* other.eventFrames({ session: "ses_none", after: 0, limit: 9 })).toBeUndefined()
        }),
      ),
  )

  test("compactions are found among everything else", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* tell(store)
        expect(yield* store.compactions("ses_1")).toEqual([{ ...COMPACTED, seq: 10, time: 7 }])
      }),
    ))

  test("messages come in order, whole, and from any place in either direction", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* tell(store)
        const all = yield* store.messages("ses_1", { direction: "up", limit: 10 })
        expect(all.map(({ place, item }) => `${place} ${item?.type}`)).toEqual([
          "3 user",
          "4 assistant",
          "9 agent-switched",
          "10 compaction",
          "11 assistant",
        ])
        expect(all[0]?.item).toEqual({ id: "a", type: "user", seq: 3, time: 7, text: "say a" })
        expect(all[1]?.item).toEqual({
          id: "s",
          type: "assistant",
          seq: 4,
          time: 7,
          agent: "build",
          model: "m",
          content: [
            { type: "text", text: "I look for walrus" },
            {
              type: "tool",
              callID: "1",
              tool: "act",
              input: { n: 1 },
              state: { status: "completed", content: [{ type: "text", text: "acted" }] },
            },
          ],
          finish: "stop",
          usage: { input: 10, output: 5, reasoning: 1, cacheRead: 2, cacheWrite: 3 },
          cost: 0.5,
        })
        expect(all[4]?.item).toMatchObject({
          content: [{ type: "tool", state: { status: "waiting", requestID: "per_1" } }],
        })
        const places = (direction: "up" | "down", from: number) =>
          Effect.map(store.messages("ses_1", { direction, from, limit: 2 }), (found) =>
            found.map(({ place }) => place),
          )
        expect([yield* places("up", 4), yield* places("down", 10)]).toEqual([
          [9, 10],
          [9, 4],
        ])
        expect(yield* store.message("ses_1", "a")).toEqual(all[0]?.item)
        yield* createSession(store, "ses_2")
        expect(yield* store.message("ses_2", "a")).toBeUndefined()
      }),
    ))

  test("an input is found by its id, with what became of it; a session lists those that wait", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* tell(store)
        const receipt = {
          sessionID: "ses_1",
          delivery: "steer",
          time: 7,
        }
        expect(yield* store.input("a")).toEqual({
          ...receipt,
          id: "a",
          prompt: { text: "say a" },
          resume: true,
          admittedSeq: 2,
          promotedSeq: 3,
        })
        expect(yield* store.inputs("ses_1")).toEqual([
          { ...receipt, id: "b", prompt: { text: "say b" }, resume: false, admittedSeq: 14 },
        ])
        expect(yield* store.input("s")).toBeUndefined()
      }),
    ))

  test("a session is summed up as its log says", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* tell(store)
        expect(yield* store.session("ses_1")).toEqual({
          id: "ses_1",
          seq: 14,
          location: { directory: "/project" },
          agent: "plan",
          model: undefined,
          title: "say a",
          isArchived: false,
          created: 7,
          updated: 7,
          usage: { input: 11, output: 6, reasoning: 1, cacheRead: 2, cacheWrite: 3 },
          cost: 0.75,
          isAsking: true,
          question: undefined,
          isAnswered: false,
          parkedUntil: undefined,
          isHeldElsewhere: false,
          trouble: undefined,
        })
      }),
    ))

  test.each([
    [
      "failed",
      { type: "session.next.execution.failed.1", data: { error: { code: "TURN_LIMIT", message: "x" } } },
    ],
    [
      "interrupted",
      { type: "session.next.execution.failed.1", data: { error: { code: "INTERRUPTED", message: "x" } } },
    ],
  ] as const)("work that ended badly shows as %s, until work ends well", (trouble, event) =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* createSession(store, "ses_1")
        yield* append(store, { session: "ses_1", after: 1, events: [event] })
        expect((yield* store.session("ses_1"))?.trouble).toBe(trouble)
        yield* append(store, { session: "ses_1", after: 2, events: [started("s"), ended("s")] })
        expect((yield* store.session("ses_1"))?.trouble).toBeUndefined()
      }),
    ),
  )

  test("sessions are listed in the order in which they were made", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        for (const session of ["ses_c", "ses_a", "ses_b"]) yield* createSession(store, session)
        const all = yield* store.sessions({ direction: "up", limit: 10 })
        expect(all.map(({ item }) => item.id)).toEqual(["ses_c", "ses_a", "ses_b"])
        const [, middle] = all
        const from = middle?.place ?? 0
        const down = yield* store.sessions({ direction: "down", from, limit: 10 })
        const up = yield* store.sessions({ direction: "up", from, limit: 10 })
        expect([down, up].map((found) => found.map(({ item }) => item.id))).toEqual([["ses_c"], ["ses_b"]])
      }),
    ))

  test("a question is open until it is answered or its call is settled", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* createSession(store, "ses_1")
        yield* append(store, {
          session: "ses_1",
          after: 1,
          events: [
            started("s"),
            ...["1", "2", "3"].flatMap((call) => [called("s", call), asked("s", call, `per_${call}`)]),
            replied("per_1"),
            succeeded("s", "2"),
          ],
        })
        const ids = (session?: string) =>
          Effect.map(store.requests(session), (open) => open.map(({ event }) => event.data.requestID))
        expect([yield* ids(), yield* ids("ses_1"), yield* ids("ses_none")]).toEqual([
          ["per_3"],
          ["per_3"],
          [],
        ])
        expect([yield* store.request("per_1"), (yield* store.request("per_3"))?.session]).toEqual([
          undefined,
          "ses_1",
        ])
      }),
    ))

  test("an approval is saved once for its project, whoever gives it", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        for (const name of ["1", "2"]) {
          yield* createSession(store, `ses_${name}`)
          yield* append(store, {
            session: `ses_${name}`,
            after: 1,
            events: [
              started(`s${name}`),
              called(`s${name}`, "1"),
              asked(`s${name}`, "1", `per_${name}`),
              replied(`per_${name}`, ["x", "y"]),
            ],
          })
        }
        expect(yield* store.approvals("/project")).toEqual([
          { action: "act", resource: "x" },
          { action: "act", resource: "y" },
        ])
        expect(yield* store.approvals("/other")).toEqual([])
      }),
    ))

  test("a title is by the first prompt's words, by a model, and for good by a person", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* createSession(store, "ses_1")
        const title = Effect.map(store.session("ses_1"), (summary) => summary?.title)
        const steps: readonly (readonly [DurableEvent, string | undefined])[] = [
          [asking("msg_1", " \n "), undefined],
          [asking("msg_2", "Fix\nthe \u001b[31mparser"), "Fix the parser"],
          [asking("msg_3", "and more"), "Fix the parser"],
          [titled("A parser"), "A parser"],
          [{ type: "session.next.renamed.1", data: { title: "Mine" } }, "Mine"],
          [titled("Theirs"), "Mine"],
        ]
        for (const [index, [event, expected]] of steps.entries()) {
          yield* append(store, { session: "ses_1", after: index + 1, events: [event] })
          expect(yield* title).toBe(expected)
        }
        expect(yield* store.session("ses_1")).toMatchObject({
          usage: { input: 2, output: 4 },
          cost: 0.5,
        })
      }),
    ))

  test("a title is the last one given, and an archived session says so", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* createSession(store, "ses_1")
        const events: readonly DurableEvent[] = [
          { type: "session.next.renamed.1", data: { title: "one" } },
          { type: "session.next.renamed.1", data: { title: "two" } },
          { type: "session.next.archived.1", data: { archived: true } },
        ]
        yield* append(store, { session: "ses_1", after: 1, events })
        expect(yield* store.session("ses_1")).toMatchObject({ title: "two", isArchived: true })
        const back: DurableEvent = { type: "session.next.archived.1", data: { archived: false } }
        yield* append(store, { session: "ses_1", after: 4, events: [back] })
        expect(yield* store.session("ses_1")).toMatchObject({ isArchived: false })
      }),
    ))

  test("a location is kept as it was given, and a move replaces it as a whole", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        const location = { directory: "/project", workspaceID: "wrk_1" }
        const moved = (to: typeof location | { readonly directory: string }): DurableEvent => ({
          type: "session.next.moved.1",
          data: { location: to },
        })
        const first: DurableEvent = {
          type: "session.next.created.1",
          data: { sessionID: sessionId("ses_1"), location },
        }
        const where = Effect.map(store.session("ses_1"), (session) => session?.location)
        yield* append(store, { session: "ses_1", after: 0, events: [first] })
        expect(yield* where).toEqual(location)
        yield* append(store, { session: "ses_1", after: 1, events: [moved({ directory: "/other" })] })
        expect(yield* where).toEqual({ directory: "/other" })
        yield* append(store, { session: "ses_1", after: 2, events: [moved(location)] })
        expect(yield* where).toEqual(location)
      }),
    ))

  test("what is revoked in the session that gave it is no longer approved", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* createSession(store, "ses_1")
        yield* append(store, {
          session: "ses_1",
          after: 1,
          events: [started("s"), called("s", "1"), asked("s", "1", "per_1"), replied("per_1", ["x", "y"])],
        })
        const approval = { project: "/project", action: "act", resource: "x" }
        expect(yield* store.approvedIn(approval)).toEqual(["ses_1"])
        expect(yield* store.givenApprovals).toEqual([
          { ...approval, session: "ses_1", time: 7 },
          { ...approval, resource: "y", session: "ses_1", time: 7 },
        ])
        yield* append(store, {
          session: "ses_1",
          after: 5,
          events: [{ type: "session.next.permission.revoked.1", data: approval }],
        })
        expect(yield* store.approvals("/project")).toEqual([{ action: "act", resource: "y" }])
      }),
    ))

  test("a removed session leaves nothing, its names are free, and its owner is fenced", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* createSession(store, "ses_1")
        yield* append(store, { session: "ses_1", after: 1, events: [admitted("a")] })
        const fence = yield* acquired(store, "ses_1")
        expect(yield* store.remove("ses_1")).toBe("held")
        yield* store.leases.release(fence)
        expect(yield* store.remove("ses_1")).toBe("removed")
        expect(yield* store.remove("ses_1")).toBe("missing")
        expect([yield* store.session("ses_1"), yield* store.input("a"), yield* seqs(store, "ses_1")]).toEqual(
          [undefined, undefined, []],
        )
        expect(yield* append(store, { session: "ses_1", after: 2, fence, events: [interrupt] })).toBe(
          "fenced",
        )
        yield* createSession(store, "ses_1")
        expect(yield* append(store, { session: "ses_1", after: 1, fence, events: [interrupt] })).toBe(
          "fenced",
        )
        expect(yield* append(store, { session: "ses_1", after: 1, events: [admitted("a")] })).toBe(
          "committed",
        )
      }),
    ))

  test("a session is to be run when an input wants it and no interrupt came behind it", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        const log = (name: string, ...events: readonly DurableEvent[]) =>
          append(store, { session: name, after: 0, events: [created(name), ...events] })
        yield* log("ses_wants", admitted("a"))
        yield* log("ses_patient", admitted("b", false))
        yield* log("ses_done", admitted("c"), promoted("c", 2))
        yield* log("ses_parked", admitted("d"), interrupt)
        yield* log("ses_again", admitted("e"), interrupt, admitted("f"))
        yield* log("ses_cancelled", admitted("g"), {
          type: "session.next.prompt.cancelled.1",
          data: { messageID: messageId("g") },
        })
        expect((yield* store.runnable).toSorted()).toEqual(["ses_again", "ses_wants"])
      }),
    ))

  /** Far ahead of every clock. */
  const [SOON, LATE] = [8_000_000_000_000, 9_000_000_000_000]

  test("a session is parked until a time, until a step starts, an interrupt comes or its work cannot begin", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        const error = { code: "rate", message: "limit" }
        const parked = (until: number): DurableEvent => ({
          type: "session.next.parked.1",
          data: { assistantMessageID: messageId("s"), reason: "limit", until, since: 1, count: 1, error },
        })
        const log = (name: string, ...events: readonly DurableEvent[]) =>
          append(store, { session: name, after: 0, events: [created(name), ...events] })
        yield* log("ses_late", admitted("a"), parked(LATE))
        yield* log("ses_soon", parked(50), parked(SOON))
        yield* log("ses_going", parked(200), started("s_going"))
        yield* log("ses_stopped", parked(200), interrupt)
        yield* log("ses_failed", parked(200), { type: "session.next.execution.failed.1", data: { error } })
        const found = [...(yield* store.parked)].toSorted((left, right) => left.until - right.until)
        expect(found).toEqual([
          { session: "ses_soon", until: SOON },
          { session: "ses_late", until: LATE },
        ])
        expect(yield* store.runnable).toEqual([])
        expect((yield* store.session("ses_soon"))?.parkedUntil).toBe(SOON)
        expect((yield* store.session("ses_going"))?.parkedUntil).toBeUndefined()
      }),
    ))

  test("a session is to be run when a question of it was answered and its call has not settled", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        const log = (name: string, ...events: readonly DurableEvent[]) => {
          const call = [started(`s_${name}`), called(`s_${name}`, "c"), asked(`s_${name}`, "c", `q_${name}`)]
          return append(store, { session: name, after: 0, events: [created(name), ...call, ...events] })
        }
        yield* log("ses_asks")
        yield* log("ses_answered", replied("q_ses_answered"))
        yield* log("ses_parked", replied("q_ses_parked"), interrupt)
        yield* log("ses_settled", replied("q_ses_settled"), succeeded("s_ses_settled", "c"))
        expect(yield* store.runnable).toEqual(["ses_answered"])
        const summaries = yield* store.sessions({ direction: "up", limit: 9 })
        expect(summaries.map(({ item }) => [item.id, item.isAsking, item.isAnswered])).toEqual([
          ["ses_asks", true, false],
          ["ses_answered", false, true],
          ["ses_parked", false, true],
          ["ses_settled", false, false],
        ])
      }),
    ))

  test("messages with all the words are found, or with any when none has all", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        yield* tell(store)
        const find = (words: string) =>
          Effect.map(store.search("ses_1", words), (hits) => hits.map(({ seq }) => seq))
        expect([
          yield* find("look walrus"),
          yield* find("Walrus unheard"),
          yield* find("unheard"),
          yield* find('"'),
        ]).toEqual([[5], [5], [], []])
        yield* append(store, { session: "ses_1", after: 14, events: [said("t", "another walrus")] })
        expect(new Set(yield* find("walrus"))).toEqual(new Set([5, 15]))
      }),
    ))
}
