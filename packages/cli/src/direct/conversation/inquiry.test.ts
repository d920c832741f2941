import { expect, test } from "vitest"

import { answersIn, DECLINED, inquiryRows } from "./inquiry.ts"

const ONE = {
  id: "que_1",
  sessionID: "ses_1",
  text: "Which \u001b[31mport?",
  choices: [{ label: "80", description: "the usual" }, { label: "8080" }],
  multiple: false,
}

test.each([
  ["1", ONE, ["80"]],
  [" 2 ", ONE, ["8080"]],
  ["8080", ONE, ["8080"]],
  ["3", ONE, ["3"]],
  ["1 2", ONE, ["1 2"]],
  ["1, 2", { ...ONE, multiple: true }, ["80", "8080"]],
  ["neither of them", ONE, ["neither of them"]],
  ["/Decline", ONE, [DECLINED]],
])("%j answers %#", (typed, question, answers) => {
  expect(answersIn(typed, question)).toEqual(answers)
})

test("a question stands with its choices, and obeys no terminal code of the model", () => {
  expect(inquiryRows(ONE, 60)).toEqual([
    "Asked: Which port?",
    "1. 80 – the usual",
    "2. 8080",
    "Type a number or an answer; /decline leaves it unanswered.",
  ])
})
