/** Questions that only a person can answer: what may be asked, what counts as an answer, and what an answer leads to. */
import {
  messageId,
  questionId,
  type DurableEvent,
  type JsonObject,
  type MessageId,
  type QuestionChoice,
  type QuestionKind,
  type RecordedError,
} from "@meridian/protocol"

import { LIMITS } from "./limits.ts"

export interface Question {
  readonly text: string
  readonly choices: readonly QuestionChoice[]
  /** Free text is accepted as an answer too. */
  readonly other: boolean
  /** More than one choice may be taken. */
  readonly multiple: boolean
}

/** A question of the engine itself. The session waits for the answer. */
export interface Pause extends Question {
  readonly kind: Exclude<QuestionKind, "tool">
  readonly detail?: JsonObject
}

export type AnswerVerdict =
  | { readonly kind: "accepted"; readonly answer: readonly string[] }
  | { readonly kind: "refused"; readonly why: string }

/** A choice may be written in any case. The answer is its label. */
export const judgeAnswer = (
  { choices, other, multiple }: Question,
  given: readonly string[],
): AnswerVerdict => {
  const labels = choices.map(({ label }) => label)
  const answer: string[] = []
  for (const text of given) {
    const chosen = labels.find((label) => isSameWord(label, text))
    if (chosen === undefined && (!other || text.trim() === ""))
      return refused(`${JSON.stringify(text.slice(0, SHOWN))} is none of ${labels.join(", ")}`)
    if (chosen === undefined && text.length > LIMITS.answerCharacters)
      return refused(`An answer has at most ${LIMITS.answerCharacters} characters`)
    answer.push(chosen ?? text)
  }
  if (new Set(answer).size < answer.length) return refused("A choice is taken once")
  if (answer.length === 0) return refused("An answer says something")
  if (answer.length > 1 && !multiple) return refused("This question takes one answer")
  return { kind: "accepted", answer }
}

const SHOWN = 100

const isSameWord = (label: string, text: string): boolean =>
  label === text || label.toLowerCase() === text.trim().toLowerCase()

const refused = (why: string): AnswerVerdict => ({ kind: "refused", why })

/** Why a call may not ask this question; undefined when it may. */
export const findFlaw = ({ text, choices, other }: Question): string | undefined => {
  if (text.trim() === "") return "A question says something"
  if (text.length > LIMITS.questionCharacters)
    return `A question has at most ${LIMITS.questionCharacters} characters`
  if (choices.length > LIMITS.questionChoices)
    return `A question has at most ${LIMITS.questionChoices} choices`
  if (choices.length === 0 && !other) return "A question without choices takes other answers"
  if (choices.some(({ label }) => label.trim() === "")) return "A choice has a label"
  const labels = choices.map(({ label }) => label.toLowerCase())
  return new Set(labels).size < labels.length ? "Labels of choices differ" : undefined
}

export const CONTINUE = "continue"
export const WAIT = "wait"
export const STOP = "stop"

export const STOP_CHOICE: QuestionChoice = { label: STOP, description: "End the work here." }

export const pauseAsked = (
  requestID: string,
  { kind, text, choices, other, multiple, detail }: Pause,
): DurableEvent => ({
  type: "session.next.question.asked.1",
  data: {
    requestID: questionId(requestID),
    kind,
    text,
    choices,
    other,
    multiple,
    ...(detail === undefined ? {} : { detail }),
  },
})

/** The question when a provider's limit ends later than we wait on our own. */
export const limitPause = (limit: {
  readonly step: MessageId
  readonly until: number
  readonly now: number
  readonly error: RecordedError
}): Pause => {
  const { step, until, now, error } = limit
  const days = Math.round((until - now) / DAY_MS)
  const moment = until < LATEST_SHOWN ? ` on ${new Date(until).toISOString().slice(0, 16)}Z` : ""
  return {
    kind: "limit",
    text: `The provider says that its limit ends${moment}, ${days} days from now. What shall be done?`,
    choices: [
      { label: CONTINUE, description: "Try again now." },
      { label: WAIT, description: "Wait until then." },
      STOP_CHOICE,
    ],
    other: false,
    multiple: false,
    detail: { until, assistantMessageID: step, code: error.code, message: error.message },
  }
}

const DAY_MS = 24 * 60 * 60_000
/** Only four-digit years are shown. */
const LATEST_SHOWN = Date.UTC(10_000, 0)

/** A question of the engine as the log has it. */
export interface AskedPause {
  readonly requestID: string
  readonly kind: QuestionKind
  readonly detail?: JsonObject
}

/** The events that follow from an answer to a question of the engine. Without events the work continues. */
export const consequencesOf = (
  { detail = {} }: AskedPause,
  answer: readonly string[],
  now: number,
): readonly DurableEvent[] => {
  if (answer[0] === STOP) return STOPPED
  if (answer[0] !== WAIT) return []
  const { until, assistantMessageID, code, message } = detail
  if (typeof until !== "number" || typeof assistantMessageID !== "string") return []
  const error = {
    code: typeof code === "string" ? code : "rate",
    message: typeof message === "string" ? message : "",
  }
  const data = {
    assistantMessageID: messageId(assistantMessageID),
    reason: "limit",
    until,
    since: now,
    count: 1,
    error,
  } as const
  return [{ type: "session.next.parked.1", data }]
}

const STOPPED: readonly DurableEvent[] = [
  // From then on even waiting inputs need a new demand.
  { type: "session.next.interrupt.requested.1", data: {} },
  {
    type: "session.next.execution.failed.1",
    data: { error: { code: "INTERRUPTED", message: "The work was ended by the answer to a question." } },
  },
]
