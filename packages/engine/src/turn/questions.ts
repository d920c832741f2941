/**
 * Questions to a person other than permissions. A call waits for its answer; when the engine asks, the session waits.
 * Question and answer are events: both survive a restart, and either may come from any process.
 */
import {
  Failure,
  messageId,
  questionId,
  type Caps,
  type DurableEvent,
  type JsonObject,
  type QuestionChoice,
  type QuestionKind,
} from "@meridian/protocol"
import { Context, Effect, Layer } from "effect"

import { readRaise } from "../domain/caps.ts"
import { consequencesOf, findFlaw, judgeAnswer, type Question } from "../domain/question.ts"
import { questionsOf, type CallName } from "../domain/transcript/calls.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import { fromThrowing } from "../port/from-throwing.ts"
import { Ids } from "../port/ids.ts"
import { Store, type OpenQuestion as StoredQuestion } from "../port/store.ts"
import { ToolError } from "../port/tool.ts"
import { FoldedSessions, Signals, type Decision, type SessionHandle } from "../session/index.ts"
import { proveOurs } from "./act-again.ts"

/** A call that asks. */
export interface Inquirer extends CallName {
  readonly session: SessionHandle
}

export interface OpenQuestion {
  readonly id: string
  readonly sessionID: string
  /** `tool`: a call asks. The other kinds come from the engine, and the session waits for the answer. */
  readonly kind: QuestionKind
  readonly text: string
  readonly choices: readonly QuestionChoice[]
  /** Free text is accepted as an answer too. */
  readonly other: boolean
  /** More than one choice may be taken. */
  readonly multiple: boolean
  readonly messageID?: string
  readonly callID?: string
  /** The subject, in a form for programs. */
  readonly detail?: JsonObject
  readonly time: number
}

export interface QuestionAnswer {
  readonly requestID: string
  /** The label of a choice, free text where allowed, or several of them. */
  readonly answer: string | readonly string[]
}

export class AskQuestion extends Context.Service<
  AskQuestion,
  {
    /** Returns the answers. */
    readonly ask: (
      inquirer: Inquirer,
      question: Question,
    ) => Effect.Effect<readonly string[], ToolError | Failure>
    readonly list: (sessionID?: string) => Effect.Effect<readonly OpenQuestion[], Failure>
    /** Records an answer. `parked`: no call was waiting, so the caller should wake the session. */
    readonly reply: (
      answer: QuestionAnswer,
    ) => Effect.Effect<{ readonly sessionID: string; readonly parked: boolean }, Failure>
  }
>()("meridian/AskQuestion") {
  static readonly layer: Layer.Layer<AskQuestion, never, Store | FoldedSessions | Signals | Ids> =
    Layer.effect(
      AskQuestion,
      Effect.suspend(() => makeQuestions),
    )
}

const makeQuestions = Effect.gen(function* () {
  const store = yield* Store
  const sessions = yield* FoldedSessions
  const signals = yield* Signals
  const ids = yield* Ids
  /** Requests of waiting calls in this process. */
  const waiting = new Set<string>()

  const asked = (inquirer: Inquirer) =>
    Effect.map(sessions.current(inquirer.session.id), ({ transcript }) =>
      questionsOf(transcript.calls, inquirer),
    )

  const ask: AskQuestion["Service"]["ask"] = (inquirer, question) =>
    Effect.gen(function* () {
      const flaw = findFlaw(question)
      if (flaw !== undefined) return yield* Effect.fail(new ToolError("invalid-input", `${flaw}.`))
      // A call that is restarted after a crash reuses the question it asked before, answered or not.
      const earlier = (yield* asked(inquirer)).find(({ text, choices }) =>
        isSame(question, { text, choices }),
      )
      const requestID = earlier?.requestID ?? (yield* record(inquirer, question))
      const answer = earlier?.answer ?? (yield* answerTo(requestID, inquirer))
      yield* proveOurs(inquirer)
      return answer
    })

  const record = (
    { session, messageID, callID }: Inquirer,
    { text, choices, other, multiple }: Question,
  ): Effect.Effect<string, Failure> =>
    Effect.suspend(() => {
      const requestID = questionId(ids.next("que_"))
      const data = {
        requestID,
        kind: "tool",
        text,
        choices,
        other,
        multiple,
        assistantMessageID: messageId(messageID),
        callID,
      } as const
      return session.decideToAct(() => ({
        kind: "append",
        events: [{ type: "session.next.question.asked.1", data }],
        answer: () => requestID,
      }))
    })

  const answerTo = (
    requestID: string,
    inquirer: Inquirer,
  ): Effect.Effect<readonly string[], ToolError | Failure> =>
    Effect.scoped(
      Effect.gen(function* () {
        const watch = yield* signals.watch(inquirer.session.id)
        yield* Effect.acquireRelease(
          Effect.sync(() => waiting.add(requestID)),
          () => Effect.sync(() => waiting.delete(requestID)),
        )
        for (;;) {
          const question = (yield* asked(inquirer)).find((one) => one.requestID === requestID)
          // Another process has settled the call, so there is nothing to wait for.
          if (question === undefined)
            return yield* Effect.fail(
              new ToolError("interrupted", "Interrupted while waiting for an answer."),
            )
          if (question.answer !== undefined) return question.answer
          yield* watch.changed
        }
      }),
    )

  const reply: AskQuestion["Service"]["reply"] = ({ requestID, answer: given }) =>
    Effect.gen(function* () {
      const found = (yield* store.questions()).find(({ event }) => event.data.requestID === requestID)
      if (found === undefined)
        return yield* Effect.fail(new Failure("QUESTION_NOT_FOUND", { question: requestID }))
      const { session } = found
      const verdict = judgeAnswer(found.event.data, typeof given === "string" ? [given] : given)
      if (verdict.kind === "refused")
        return yield* Effect.fail(new Failure("INVALID_INPUT", { what: verdict.why }))
      const raised =
        found.event.data.kind === "budget"
          ? yield* fromThrowing(() => readRaise(found.event.data.detail, verdict.answer[0] ?? ""))
          : undefined
      const parked = !waiting.has(requestID) && !(yield* store.leases.isHeldElsewhere(session))
      yield* sessions.write({ session, durability: "acknowledged" }, (transcript) =>
        decideReply(found, transcript, {
          answer: verdict.answer,
          raised,
          parked,
          now: store.now(),
        }),
      )
      return { sessionID: session, parked }
    })

  return AskQuestion.of({
    ask,
    reply,
    list: (sessionID) => Effect.map(store.questions(sessionID), (open) => open.map(shownQuestion)),
  })
})

const shownQuestion = ({ session, event: { data, time } }: StoredQuestion): OpenQuestion => {
  const { requestID, kind, text, choices, other, multiple, assistantMessageID, callID, detail } = data
  return {
    id: requestID,
    sessionID: session,
    kind,
    text,
    choices,
    other,
    multiple,
    ...(assistantMessageID === undefined ? {} : { messageID: assistantMessageID }),
    ...(callID === undefined ? {} : { callID }),
    ...(detail === undefined ? {} : { detail }),
    time,
  }
}

const isSame = (
  question: Pick<Question, "text" | "choices">,
  other: Pick<Question, "text" | "choices">,
): boolean =>
  question.text === other.text && JSON.stringify(question.choices) === JSON.stringify(other.choices)

/** The question may have been answered or superseded since it was found. */
const decideReply = (
  { event: { data } }: StoredQuestion,
  { calls, parking }: Transcript,
  given: {
    readonly answer: readonly string[]
    readonly raised: Caps | undefined
    readonly parked: boolean
    readonly now: number
  },
): Decision<void> => {
  const { requestID, assistantMessageID, callID } = data
  const { answer, raised, parked, now } = given
  const ofCall = calls.questions.get(requestID)
  const isOpen =
    parking?.question?.requestID === requestID || (ofCall !== undefined && ofCall.answer === undefined)
  if (!isOpen) return { kind: "refuse", failure: new Failure("QUESTION_NOT_FOUND", { question: requestID }) }
  const replied: DurableEvent = {
    type: "session.next.question.replied.1",
    data: {
      requestID,
      answer,
      parked,
      ...(assistantMessageID === undefined ? {} : { assistantMessageID }),
      ...(callID === undefined ? {} : { callID }),
    },
  }
  const changed: readonly DurableEvent[] =
    raised === undefined ? [] : [{ type: "session.next.budget.changed.1", data: { caps: raised } }]
  const consequences = callID === undefined ? [...changed, ...consequencesOf(data, answer, now)] : []
  return { kind: "append", events: [replied, ...consequences], answer: () => undefined }
}
