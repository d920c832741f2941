/** What a session may use up: showing and setting it. */
import { questionId, type Caps, type DurableEvent, type Failure } from "@meridian/protocol"
import { Effect } from "effect"

import type { SessionBudget } from "./api.ts"
import { present, readBudget } from "./check-input.ts"
import { requireAboveSpent } from "./domain/caps.ts"
import type { Transcript } from "./domain/transcript/transcript.ts"
import { fromThrowing } from "./port/from-throwing.ts"
import { Scheduler } from "./schedule/index.ts"
import { capsOf, FoldedSessions, Settings, type Decision, type SettingsValue } from "./session/index.ts"

export const budgetOf = (transcript: Transcript, settings: SettingsValue): SessionBudget => ({
  spent: transcript.spending.spent,
  caps: capsOf(transcript, settings),
})

export const openBudgets = Effect.gen(function* () {
  const sessions = yield* FoldedSessions
  const settings = yield* Settings
  const scheduler = yield* Scheduler
  return (input: Caps & { readonly sessionID: string }): Effect.Effect<SessionBudget, Failure> =>
    Effect.gen(function* () {
      const { sessionID, ...caps } = yield* fromThrowing(() => readBudget(present(input)))
      yield* sessions.exists(sessionID)
      const { transcript } = yield* sessions.current(sessionID)
      yield* fromThrowing(() => requireAboveSpent(caps, transcript.spending.spent))
      const answered = yield* sessions.write({ session: sessionID, durability: "acknowledged" }, (now) =>
        decideChange(caps, now),
      )
      if (answered) yield* scheduler.wake(sessionID)
      return budgetOf((yield* sessions.current(sessionID)).transcript, settings)
    })
})

/** Answers whether the change settles the question that the session waits with. */
const decideChange = (caps: Caps, { parking }: Transcript): Decision<boolean> => {
  const changed: DurableEvent = { type: "session.next.budget.changed.1", data: { caps } }
  const question = parking?.question
  const isAnswered = question?.kind === "budget" && Object.keys(caps).length > 0
  if (!isAnswered)
    return { kind: "append", events: Object.keys(caps).length === 0 ? [] : [changed], answer: () => false }
  const answer = Object.entries(caps).map(([name, value]) => `${name}=${value}`)
  const replied: DurableEvent = {
    type: "session.next.question.replied.1",
    data: { requestID: questionId(question.requestID), answer, parked: true },
  }
  return { kind: "append", events: [replied, changed], answer: () => true }
}
