/** `question`: asks the user, with choices, and waits for the answer. The question outlives this process. */
import { BOOLEAN, described, listOf, objectOf, STRING, text } from "@meridian/protocol"

import { LIMITS } from "../domain/limits.ts"
import { toolInput } from "../port/tool-input.ts"
import type { BuiltinTool, Tool } from "../port/tool.ts"

const INPUT = toolInput(
  objectOf(
    {
      question: described(
        text({ pattern: /\S/, most: LIMITS.questionCharacters, like: "a question" }),
        "The question, with what a person must know to answer it",
      ),
    },
    {
      choices: described(
        listOf(objectOf({ label: STRING }, { description: STRING }), LIMITS.questionChoices),
        "Answers to choose from, the one you would take first; the label is the answer",
      ),
      multiple: described(BOOLEAN, "Several choices may be taken together"),
    },
  ),
)

export const questionTool = (): Tool => ({
  advertisement: {
    name: "question",
    description:
      "Asks the user, and waits for the answer however long it takes. Only for decisions that are theirs and that nothing here " +
      "can tell you; not for leave to go on. Words that are no choice are an answer, too.",
    input: INPUT.schema,
  },
  execute: async (raw, scene) => {
    const { question, choices = [], multiple = false } = INPUT.decode(raw)
    const answer = await scene.question({ text: question, choices, other: true, multiple })
    return {
      content: [{ type: "text", text: `The user answered: ${answer.join("; ")}` }],
      structured: { answer },
    }
  },
})

export const QUESTION: BuiltinTool<unknown> = {
  name: "question",
  traits: { waits: true, keepsResults: true, changes: "none", looking: { at: "session" } },
  open: questionTool,
}
