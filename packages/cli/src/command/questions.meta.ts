/** `meridian questions ...`: open questions of the engine's agents. */
import { BOOLEAN, STRING, listOf, objectOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

const database = {
  type: "string",
  description: "Database of the engine instead of the one in the state folder.",
  value: "FILE",
} as const

export const QUESTIONS_LIST = defineMeta({
  name: "questions.list",
  audience: "human",
  summary: "List unanswered questions of agents, in sessions of the engine.",
  fields: { database },
  output: objectOf({
    questions: listOf(
      objectOf(
        {
          question_id: STRING,
          kind: STRING,
          session_id: STRING,
          text: STRING,
          answers: listOf(STRING),
          words: BOOLEAN,
          at: STRING,
        },
        { session: STRING },
      ),
    ),
  }),
  details:
    "Permissions a call waits for, questions an agent asks, and those of the engine about limits, budgets and crashes.",
  examples: ["questions list"],
})

export const QUESTIONS_ANSWER = defineMeta({
  name: "questions.answer",
  audience: "human",
  summary: "Answer a question of an agent; its session continues.",
  fields: {
    question: {
      type: "string",
      description: "Id of a question.",
      positional: true,
      required: true,
      value: "QUESTION",
    },
    answers: {
      type: "strings",
      description: "One of the listed answers, or your own words if they are allowed.",
      positional: "rest",
      value: "ANSWER",
    },
    message: {
      type: "string",
      description: "With reject: why, for the agent.",
      value: "TEXT",
    },
    database,
  },
  output: objectOf({ question_id: STRING, answer: listOf(STRING) }),
  details:
    "A permission takes once, always (in this project), session (every edit of this session) or reject. If the session's process is gone, the next process that opens its database continues it, such as 'meridian serve --http' or 'meridian start --continue'.",
  examples: [
    "questions answer per_0123 once",
    'questions answer per_0123 reject --message "use the staging database"',
    "questions answer qst_0123 Postgres",
  ],
})
