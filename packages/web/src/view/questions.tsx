import { useApp } from "../state/app.ts"
import type { OpenSession } from "../state/open-session.ts"
import { Inquiry } from "./inquiry.tsx"
import { Question } from "./question.tsx"

/** What the agent of this session asks. `version` says when to draw again. */
export const Questions = ({ session }: { readonly session: OpenSession; readonly version: number }) => {
  const app = useApp()
  const questions = [...session.timeline.questions.values()]
  const inquiries = app.questions.value.filter(({ sessionID }) => sessionID === session.id)
  return (
    <>
      {questions.length === 0 ? null : (
        <section class="questions" aria-label="Permission requests" aria-live="polite">
          {questions.map((question) => (
            <Question key={question.id} question={question} />
          ))}
        </section>
      )}
      {inquiries.length === 0 ? null : (
        <section class="questions" aria-label="Questions" aria-live="polite">
          {inquiries.map((question) => (
            <Inquiry key={question.id} question={question} />
          ))}
        </section>
      )}
    </>
  )
}
