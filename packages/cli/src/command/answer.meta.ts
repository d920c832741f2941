/** `meridian questions` and `meridian answer`: what waits for a person, in the engine and among runs. */
import { BOOLEAN, listOf, objectOf, STRING } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

const database = {
  type: "string",
  description: "Database of the engine instead of the one in the state folder.",
  value: "FILE",
} as const

export const QUESTIONS = defineMeta({
  name: "questions",
  audience: "human",
  summary: "List what waits for an answer: permissions, questions, paused runs.",
  fields: { database },
  output: objectOf({
    questions: listOf(
      objectOf(
        { question_id: STRING, kind: STRING, text: STRING, answers: listOf(STRING), words: BOOLEAN },
        { session_id: STRING, space_id: STRING, run_id: STRING, at: STRING },
      ),
    ),
  }),
  examples: ["questions"],
})

export const ANSWER = defineMeta({
  name: "answer",
  audience: "human",
  summary: "Answer one open question; the work that waited for it continues.",
  details:
    "A permission takes once, always or reject; a question takes a choice or your own words. A run (s1/r3) takes continue or stop; one whose budget is used up takes its total cost, or amounts such as cost=5 tokens=200000 turns=80 time=2h.",
  fields: {
    id: {
      type: "string",
      description: "As 'meridian questions' shows it.",
      positional: true,
      required: true,
      value: "ID",
    },
    answer: {
      type: "strings",
      description: "The answer.",
      positional: "rest",
      value: "once|always|reject|TEXT",
    },
    database,
  },
  output: objectOf({ question_id: STRING, answer: STRING }, { run_id: STRING, status: STRING }),
  examples: ["answer per_0123 once", "answer qst_0123 Postgres", "answer s1/r3 5"],
})
