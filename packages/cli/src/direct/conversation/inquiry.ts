/** A question that a call asks a person: its rows, and what a typed line answers. Pure. */
import { oneLine, plainText, type QuestionChoice } from "@meridian/protocol"

import { wrapText } from "./columns.ts"

export interface Inquiry {
  readonly id: string
  readonly sessionID: string
  readonly text: string
  readonly choices: readonly QuestionChoice[]
  readonly multiple: boolean
}

/** Typed instead of an answer. */
const DECLINE = "/decline"

export const isDecline = (typed: string): boolean => typed.trim().toLowerCase() === DECLINE

/** What the model is told then. */
export const DECLINED = "(The user declined to answer this question.)"

export const inquiryRows = ({ text, choices, multiple }: Inquiry, width: number): readonly string[] => {
  const offered = choices.map(
    ({ label, description }, at) =>
      `${at + 1}. ${oneLine(label)}${description === undefined ? "" : ` – ${oneLine(description)}`}`,
  )
  const how =
    choices.length === 0 ? "Type an answer" : `Type ${multiple ? "numbers" : "a number"} or an answer`
  return [`Asked: ${plainText(text)}`, ...offered, `${how}; ${DECLINE} leaves it unanswered.`].flatMap(
    (line) => wrapText(line, width),
  )
}

/** Numbers stand for choices, as far as all of them are there. */
export const answersIn = (typed: string, { choices, multiple }: Inquiry): readonly string[] => {
  const line = typed.trim()
  if (isDecline(line)) return [DECLINED]
  if (!/^\d{1,3}(?:[\s,]+\d{1,3})*$/.test(line)) return [line]
  const labels = line.split(/[\s,]+/).map((number) => choices[Number(number) - 1]?.label)
  const isWhole = labels.every((label) => label !== undefined) && (multiple || labels.length === 1)
  return isWhole ? labels.flatMap((label) => label ?? []) : [line]
}
