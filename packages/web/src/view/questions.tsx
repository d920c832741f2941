import type { OpenSession } from "../state/open-session.ts"
import { Question } from "./question.tsx"

/** What the agent of this session asks. `version` says when to draw again. */
export const Questions = ({ session }: { readonly session: OpenSession; readonly version: number }) => {
  const questions = [...session.timeline.questions.values()]
  if (questions.length === 0) return null
  return (
    <section class="questions" aria-label="Permission requests" aria-live="polite">
      {questions.map((question) => (
        <Question key={question.id} question={question} />
      ))}
    </section>
  )
}
