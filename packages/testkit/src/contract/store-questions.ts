/** Questions other than permission requests: from calls, and from the engine, for which the session waits. */
import { NEVER } from "@meridian/engine/store-port"
import { messageId, questionId, type DurableEvent, type QuestionKind } from "@meridian/protocol"
import { Effect } from "effect"
import { expect, test } from "vitest"

import {
  admitted,
  append,
  asked,
  called,
  created,
  interrupt,
  started,
  succeeded,
  withStore,
  type StoreUnderTest,
} from "./store-scene.ts"

interface Owner {
  readonly step: string
  readonly callID: string
}

const ofCall = (owner: Owner | undefined) =>
  owner === undefined ? {} : { assistantMessageID: messageId(owner.step), callID: owner.callID }

const questioned = (id: string, kind: QuestionKind, owner?: Owner): DurableEvent => ({
  type: "session.next.question.asked.1",
  data: {
    requestID: questionId(id),
    kind,
    text: "What now?",
    choices: [{ label: "continue" }],
    other: false,
    multiple: false,
    ...ofCall(owner),
  },
})

const answered = (id: string, owner?: Owner): DurableEvent => ({
  type: "session.next.question.replied.1",
  data: { requestID: questionId(id), answer: ["continue"], parked: true, ...ofCall(owner) },
})

export const questionsContract = (subject: StoreUnderTest): void => {
  test("a session waits with a question of the engine until it is answered, a step starts or an interrupt comes", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        const log = (name: string, ...events: readonly DurableEvent[]) =>
          append(store, {
            session: name,
            after: 0,
            events: [created(name), admitted(`m_${name}`), ...events],
          })
        yield* log("ses_open", questioned("que_open", "budget"))
        yield* log("ses_answered", questioned("que_answered", "limit"), answered("que_answered"))
        yield* log("ses_overtaken", questioned("que_overtaken", "recovery"), started("s_overtaken"))
        yield* log("ses_stopped", questioned("que_stopped", "compaction"), interrupt)
        const found = yield* store.questions()
        expect(found.map(({ session, event }) => [session, event.data.requestID, event.data.kind])).toEqual([
          ["ses_open", "que_open", "budget"],
        ])
        expect((yield* store.questions("ses_open")).map(({ event }) => event)).toEqual([found[0]?.event])
        expect(yield* store.questions("ses_answered")).toEqual([])
        // The answer makes the session due: the next check of the timers resumes it.
        expect((yield* store.parked).toSorted((left, right) => left.until - right.until)).toEqual([
          { session: "ses_answered", until: 0 },
          { session: "ses_open", until: NEVER },
        ])
        const runnable = yield* store.runnable
        expect(runnable).toContain("ses_overtaken")
        expect(runnable).not.toContain("ses_open")
        const items = yield* store.sessions({ direction: "up", limit: 9 })
        expect(items.map(({ item }) => [item.id, item.question, item.parkedUntil, item.isAsking])).toEqual([
          ["ses_open", "budget", NEVER, false],
          ["ses_answered", undefined, 0, false],
          ["ses_overtaken", undefined, undefined, false],
          ["ses_stopped", undefined, undefined, false],
        ])
        expect(yield* store.requests()).toEqual([])
      }),
    ))

  test("a call's question is open until it is answered or its call is settled, beside its permission", () =>
    withStore(subject, (store) =>
      Effect.gen(function* () {
        const log = (name: string, ...events: readonly DurableEvent[]) => {
          const call = [started(`s_${name}`), called(`s_${name}`, "c")]
          return append(store, { session: name, after: 0, events: [created(name), ...call, ...events] })
        }
        const owner = (name: string): Owner => ({ step: `s_${name}`, callID: "c" })
        yield* log("ses_asks", questioned("que_asks", "tool", owner("ses_asks")))
        yield* log(
          "ses_told",
          questioned("que_told", "tool", owner("ses_told")),
          answered("que_told", owner("ses_told")),
        )
        yield* log(
          "ses_settled",
          questioned("que_settled", "tool", owner("ses_settled")),
          succeeded("s_ses_settled", "c"),
        )
        yield* log(
          "ses_both",
          asked("s_ses_both", "c", "per_both"),
          questioned("que_both", "tool", owner("ses_both")),
        )
        expect((yield* store.questions()).map(({ event }) => event.data.requestID).toSorted()).toEqual([
          "que_asks",
          "que_both",
        ])
        expect((yield* store.requests()).map(({ event }) => event.data.requestID)).toEqual(["per_both"])
        expect(yield* store.runnable).toEqual(["ses_told"])
        const all = yield* store.sessions({ direction: "up", limit: 9 })
        expect(all.map(({ item }) => [item.id, item.question, item.isAsking, item.isAnswered])).toEqual([
          ["ses_asks", "tool", false, false],
          ["ses_told", undefined, false, true],
          ["ses_settled", undefined, false, false],
          ["ses_both", "tool", true, false],
        ])
      }),
    ))
}
