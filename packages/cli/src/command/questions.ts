/** `meridian questions list|answer`. */
import type { Engine, OpenPermissionRequest, OpenQuestion } from "@meridian/engine"
import { Failure, oneLine } from "@meridian/protocol"
import { implement, type World } from "@meridian/spaces"

import { lookWithEngine } from "./look-with-engine.ts"
import { QUESTIONS_ANSWER, QUESTIONS_LIST } from "./questions.meta.ts"

const PERMISSION_ANSWERS = ["once", "always", "session", "reject"] as const

export const questionsList = implement(QUESTIONS_LIST, {
  run: ({ database }, world) =>
    lookWithEngine(database, world, async (engine) => {
      const permissions = await engine.permissions.list()
      const questions = await engine.questions.list()
      const documents = [...permissions.map(permissionDocument), ...questions.map(questionDocument)]
      const titles = await titlesOf(engine, new Set(documents.map(({ session_id: id }) => id)))
      return { questions: documents.map((document) => named(document, titles.get(document.session_id))) }
    }),
  text: ({ questions }) =>
    questions.length === 0
      ? "There are no open questions."
      : questions
          .map(({ question_id: id, text, session_id: sessionID, session = sessionID, answers, words }) =>
            [
              `${id}  ${oneLine(session, SESSION_CHARACTERS)}`,
              `  ${oneLine(text, TEXT_CHARACTERS)}`,
              `  meridian questions answer ${id} ${[...answers.map((answer) => oneLine(answer, ANSWER_CHARACTERS)), ...(words ? ["WORDS"] : [])].join("|")}`,
            ].join("\n"),
          )
          .join("\n"),
})

const SESSION_CHARACTERS = 100
const TEXT_CHARACTERS = 400
const ANSWER_CHARACTERS = 60

export const questionsAnswer = implement(QUESTIONS_ANSWER, {
  run: async ({ question, answers, message, database }, world) => {
    requirePerson(world)
    if (answers.length === 0)
      throw new Failure("USAGE", {
        problem: "'questions answer' takes a question and its answer.",
        next: "run 'meridian questions list' to see both.",
      })
    await lookWithEngine(database, world, async (engine) => {
      const isPermission = (await engine.permissions.list()).some(({ id }) => id === question)
      if (!isPermission) return engine.questions.reply({ requestID: question, answer: answers })
      const [given = ""] = answers
      const reply = PERMISSION_ANSWERS.find((answer) => answer === given)
      if (reply === undefined || answers.length > 1)
        throw new Failure("USAGE", {
          problem: `A permission is answered with one of ${PERMISSION_ANSWERS.join(", ")}, not with '${oneLine(answers.join(" "), ANSWER_CHARACTERS)}'.`,
          next: "run 'meridian questions list' to see what is asked.",
        })
      return engine.permissions.reply({
        requestID: question,
        reply,
        ...(reply === "reject" && message !== undefined ? { message } : {}),
      })
    })
    return { question_id: question, answer: answers }
  },
  text: ({ question_id: id, answer }) => `${id}: ${answer.map((words) => oneLine(words)).join(", ")}`,
})

const permissionDocument = ({
  id,
  sessionID,
  action,
  title,
  resources,
  time,
}: OpenPermissionRequest): Asked => ({
  question_id: id,
  kind: "permission",
  session_id: sessionID,
  text: `Allow ${action}? ${[...new Set([title, ...resources])].filter((text) => text !== "").join("; ")}`,
  answers: PERMISSION_ANSWERS.filter((answer) => answer !== "session" || action === "edit"),
  words: false,
  at: new Date(time).toISOString(),
})

const questionDocument = ({ id, kind, sessionID, text, choices, other, time }: OpenQuestion): Asked => ({
  question_id: id,
  kind,
  session_id: sessionID,
  text,
  answers: choices.map(({ label }) => label),
  words: other,
  at: new Date(time).toISOString(),
})

/** As the command shows it. */
interface Asked {
  readonly question_id: string
  readonly kind: string
  readonly session_id: string
  readonly text: string
  readonly answers: readonly string[]
  readonly words: boolean
  readonly at: string
}

const named = (asked: Asked, session: string | undefined): Asked & { readonly session?: string } =>
  session === undefined ? asked : { ...asked, session }

const titlesOf = async (
  { sessions }: Engine,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> => {
  const titles = new Map<string, string>()
  for (const id of ids) {
    const { title } = await sessions.get(id)
    if (title !== undefined) titles.set(id, title)
  }
  return titles
}

/** An agent must not answer for its person. */
const requirePerson = ({ mode, face }: Pick<World, "mode" | "face">): void => {
  if (mode === "agent" || face === "tool")
    throw new Failure("TRUST_NEEDS_PERSON", { command: "questions answer" })
}
