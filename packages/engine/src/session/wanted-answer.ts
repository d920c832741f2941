/** The value that a prompt asks for: the tool that takes it, and the text that may hold it. */
import type { AnswerFormat, Json } from "@meridian/protocol"

import { ANSWER_TOOL, answerSchema, readAnswerText } from "../domain/answer-format.ts"
import { LIMITS } from "../domain/limits.ts"
import { ToolError, type Tool } from "../port/tool.ts"
import type { OpenValueCheck } from "../port/value-check.ts"

export interface WantedAnswer {
  readonly tool: Tool
  /** Reads the text of a turn as that value, or says why it is not one. */
  readonly read: (text: string) => Promise<AnswerReading>
}

export type AnswerReading =
  | { readonly kind: "value"; readonly value: Json }
  | { readonly kind: "problem"; readonly problem: string }

export const openWantedAnswer = (format: AnswerFormat, openValueCheck: OpenValueCheck): WantedAnswer => {
  const { schema, answerOf } = answerSchema(format)
  const check = openValueCheck(schema)

  const judge = async (given: Json): Promise<AnswerReading> => {
    const problem = await check(given).catch((error: unknown) => `it cannot be checked (${String(error)}).`)
    return problem === undefined
      ? { kind: "value", value: answerOf(given) }
      : { kind: "problem", problem: problem.slice(0, LIMITS.recordedErrorCharacters) }
  }

  return {
    tool: {
      advertisement: {
        name: ANSWER_TOOL,
        description: "Gives the result of the work and ends it. Call it once, when the work is done.",
        input: schema,
      },
      execute: async (input) => {
        const judged = await judge(input)
        if (judged.kind === "problem")
          throw new ToolError("invalid-input", `The result does not fit: ${judged.problem}`)
        return { content: [{ type: "text", text: "The result was taken." }], structured: judged.value }
      },
    },
    read: async (text) => {
      const given = readAnswerText(text)
      return given === undefined ? { kind: "problem", problem: "it was words and no JSON." } : judge(given)
    },
  }
}
