import { titleOf } from "../domain/session-title.ts"
import { useApp } from "../state/app.ts"
import { Approvals } from "./approvals.tsx"
import { Inquiry } from "./inquiry.tsx"
import { Question } from "./question.tsx"

/** What waits for an answer in all sessions, oldest first, with the means to answer it. */
export const QuestionPage = () => {
  const { permissions, questions, sessions } = useApp()
  const requests = permissions.value
  const inquiries = questions.value
  const sessionOf = (id: string) => ({
    id,
    title: titleOf(sessions.value?.find((session) => session.id === id) ?? { id }),
  })
  return (
    <div class="overview">
      <h1>Waits for your answer</h1>
      {requests.length + inquiries.length === 0 ? (
        <p class="faint">Nothing. You will see it here and in the title of this tab.</p>
      ) : (
        <section class="questions" aria-label="Open questions" aria-live="polite">
          {requests.map((request) => (
            <Question key={request.id} question={request} session={sessionOf(request.sessionID)} />
          ))}
          {inquiries.map((question) => (
            <Inquiry key={question.id} question={question} session={sessionOf(question.sessionID)} />
          ))}
        </section>
      )}
      <Approvals />
    </div>
  )
}
