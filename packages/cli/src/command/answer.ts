/** `meridian questions` and `meridian answer`: open questions of the engine's sessions, and paused runs. */
import { Failure, oneLine } from "@meridian/protocol"
import { implement, runQuestions, type RunQuestion, type World } from "@meridian/spaces"

import { ANSWER, QUESTIONS } from "./answer.meta.ts"
import { questionsAnswer, questionsList } from "./questions.ts"

const AS_TYPED = { passthrough: [], given: new Set<string>() }

export const questions = implement(QUESTIONS, {
  run: async ({ database }, world) => {
    const { openRunQuestions } = await runQuestions()
    const runs = openRunQuestions(world)
    // If a run's budget is used up, its session asks too.
    const asked = new Set(
      runs.flatMap(({ kind, harnessSession }) => (kind === "budget" ? [harnessSession] : [])),
    )
    const ofEngine = await inEngine(database, world)
    return {
      questions: [
        ...ofEngine
          .filter(({ kind, session_id: id }) => kind !== "budget" || !asked.has(id))
          .map(({ session: _title, ...row }) => row),
        ...runs.map(runRow),
      ],
    }
  },
  text: ({ questions: open }) =>
    open.length === 0
      ? "Nothing waits for an answer."
      : open
          .map(({ question_id: id, kind, text, answers, words }) => {
            const offered = [...answers.map((one) => oneLine(one, 60)), ...(words ? ["TEXT"] : [])]
            return `${id}  ${kind}  ${oneLine(text, 400)}  [${offered.join(" | ")}]`
          })
          .join("\n"),
})

export const answer = implement(ANSWER, {
  run: async ({ id, answer: words, database }, world) => {
    requirePerson(world)
    const text = words.join(" ").trim()
    if (text === "")
      throw new Failure("USAGE", {
        problem: "'answer' takes an id and an answer.",
        next: "run 'meridian questions' to see both.",
      })
    const told = { question_id: id, answer: text }
    const { answerRun, openRunQuestions } = await runQuestions()
    if (/^s\d+\/r\d+$/.test(id)) return { ...told, ...(await answerRun(id, text, world)) }
    const question = (await inEngine(database, world)).find((one) => one.question_id === id)
    if (question === undefined) throw new Failure("QUESTION_NOT_FOUND", { question: id })
    const isPermission = question.kind === "permission"
    const [first = "", ...rest] = words
    await questionsAnswer.run(
      {
        question: id,
        answers: isPermission ? [first] : [text],
        message: isPermission && rest.length > 0 ? rest.join(" ") : undefined,
        database,
        ...AS_TYPED,
      },
      world,
    )
    // A run that was paused by this question resumes.
    const run = openRunQuestions(world).find(
      ({ harnessSession, kind }) => harnessSession === question.session_id && kind === "question",
    )
    return run === undefined ? told : { ...told, ...(await answerRun(run.id, "continue", world)) }
  },
  text: ({ question_id: id, answer: text, run_id: run, status }) =>
    `${id}: ${oneLine(text)}${run === undefined ? "" : ` (${run} ${status ?? ""})`}`,
})

/** Empty if no session was ever begun. */
const inEngine = async (database: string | undefined, world: World) => {
  try {
    return (await questionsList.run({ database, ...AS_TYPED }, world)).questions
  } catch (error) {
    if (database === undefined && error instanceof Failure && error.code === "ENGINE_DATABASE_NOT_FOUND")
      return []
    throw error
  }
}

const runRow = ({ id, space, run, kind, text, answers }: RunQuestion) => ({
  question_id: id,
  kind,
  text,
  answers: [...answers],
  words: false,
  space_id: space,
  run_id: run,
})

/** An agent must not answer questions meant for people. */
const requirePerson = ({ mode, face }: Pick<World, "mode" | "face">): void => {
  if (mode === "agent" || face === "tool") throw new Failure("TRUST_NEEDS_PERSON", { command: "answer" })
}
