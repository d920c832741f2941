/** The verbs of questions other than permission requests. */
import { Context, Effect, Layer } from "effect"

import type { QuestionsApi } from "./api.ts"
import { present, readAbout, readAnswer } from "./check-input.ts"
import { effectFace, QUESTION_CALLS, type EffectFace, type VerbsOf } from "./faces.ts"
import { fromThrowing } from "./port/from-throwing.ts"
import { Scheduler } from "./schedule/index.ts"
import { FoldedSessions } from "./session/index.ts"
import { AskQuestion } from "./turn/index.ts"

/** The verbs from which both faces are made. */
export class QuestionsTable extends Context.Service<QuestionsTable, VerbsOf<QuestionsApi>>()(
  "meridian/QuestionsTable",
) {
  static readonly layer: Layer.Layer<QuestionsTable, never, AskQuestion | Scheduler | FoldedSessions> =
    Layer.effect(
      QuestionsTable,
      Effect.suspend(() => makeQuestions),
    )
}

/** The open questions of one engine as an Effect service. */
export class Questions extends Context.Service<Questions, EffectFace<QuestionsApi>>()("meridian/Questions") {
  static readonly layer: Layer.Layer<Questions, never, QuestionsTable> = Layer.effect(
    Questions,
    Effect.map(QuestionsTable, (verbs) => effectFace<QuestionsApi>(verbs, QUESTION_CALLS)),
  )
}

const makeQuestions = Effect.gen(function* () {
  const questions = yield* AskQuestion
  const scheduler = yield* Scheduler
  const sessions = yield* FoldedSessions
  return QuestionsTable.of({
    list: (input = {}) =>
      Effect.gen(function* () {
        const { sessionID } = yield* fromThrowing(() => readAbout(present(input)))
        if (sessionID !== undefined) yield* sessions.known(sessionID)
        return yield* questions.list(sessionID)
      }),
    reply: (answer) =>
      Effect.gen(function* () {
        const given = yield* fromThrowing(() => readAnswer(present(answer)))
        const { sessionID, parked } = yield* questions.reply(given)
        if (parked) yield* scheduler.wake(sessionID)
      }),
  })
})
