import { messageId } from "@meridian/protocol"
import { expect, test } from "vitest"

import { LIMITS } from "./limits.ts"
import { consequencesOf, findFlaw, judgeAnswer, limitPause, type Question } from "./question.ts"

const choices = [{ label: "Yes" }, { label: "No", description: "not now" }]
const strict: Question = { text: "Go on?", choices, other: false, multiple: false }

test.each([
  [strict, ["Yes"], ["Yes"]],
  [strict, [" yes "], ["Yes"]],
  [{ ...strict, other: true }, ["perhaps"], ["perhaps"]],
  [{ ...strict, multiple: true }, ["no", "Yes"], ["No", "Yes"]],
  [{ ...strict, multiple: true, other: true }, ["Yes", "but later"], ["Yes", "but later"]],
])("%j takes %j", (question, given, answer) => {
  expect(judgeAnswer(question, given)).toEqual({ kind: "accepted", answer })
})

test.each([
  [strict, ["perhaps"], '"perhaps" is none of Yes, No'],
  [strict, [], "An answer says something"],
  [strict, ["Yes", "No"], "This question takes one answer"],
  [{ ...strict, multiple: true }, ["Yes", "yes"], "A choice is taken once"],
  [{ ...strict, other: true }, [" "], '" " is none of Yes, No'],
  [
    { ...strict, other: true },
    ["x".repeat(LIMITS.answerCharacters + 1)],
    `An answer has at most ${LIMITS.answerCharacters} characters`,
  ],
])("%j refuses %j", (question, given, why) => {
  expect(judgeAnswer(question, given)).toEqual({ kind: "refused", why })
})

test("words at their bound are an answer", () => {
  const words = "x".repeat(LIMITS.answerCharacters)
  expect(judgeAnswer({ ...strict, other: true }, [words])).toEqual({ kind: "accepted", answer: [words] })
})

test.each([
  [{ text: " " }, "A question says something"],
  [
    { text: "x".repeat(LIMITS.questionCharacters + 1) },
    `A question has at most ${LIMITS.questionCharacters} characters`,
  ],
  [{ choices: [] }, "A question without choices takes other answers"],
  [{ choices: [{ label: "a" }, { label: "A" }] }, "Labels of choices differ"],
  [{ choices: [{ label: " " }] }, "A choice has a label"],
  [
    { choices: Array.from({ length: LIMITS.questionChoices + 1 }, (_, n) => ({ label: `${n}` })) },
    `A question has at most ${LIMITS.questionChoices} choices`,
  ],
  [{}, undefined],
  [{ choices: [], other: true }, undefined],
])("a question with %j: %s", (change, flaw) => {
  expect(findFlaw({ ...strict, ...change })).toBe(flaw)
})

const step = messageId("msg_1")
const error = { code: "rate", message: "weekly limit" }
const pauseUntil = (until: number) => limitPause({ step, until, now: 0, error })

test("a limit names the day on which it ends, as far as days have names", () => {
  const day = 24 * 60 * 60_000
  expect(pauseUntil(9 * day).text).toBe(
    "The provider says that its limit ends on 1970-01-10T00:00Z, 9 days from now. What shall be done?",
  )
  expect(pauseUntil(9_000_000 * 365 * day).text).toBe(
    "The provider says that its limit ends, 3285000000 days from now. What shall be done?",
  )
})

test("to wait parks until the time that was told; to stop ends the work; to go on needs nothing more", () => {
  const { detail = {} } = pauseUntil(5_000)
  const pause = { requestID: "que_1", kind: "limit", detail } as const
  expect(consequencesOf(pause, ["continue"], 7)).toEqual([])
  expect(consequencesOf(pause, ["stop"], 7).map(({ type }) => type)).toEqual([
    "session.next.interrupt.requested.1",
    "session.next.execution.failed.1",
  ])
  expect(consequencesOf(pause, ["wait"], 7)).toEqual([
    {
      type: "session.next.parked.1",
      data: { assistantMessageID: step, reason: "limit", until: 5_000, since: 7, count: 1, error },
    },
  ])
})
