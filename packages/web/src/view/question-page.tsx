import { titleOf } from "../domain/session-title.ts"
import { useApp } from "../state/app.ts"
import { Approvals } from "./approvals.tsx"
import { Question } from "./question.tsx"

/** What waits for an answer in all sessions, oldest first, to be answered here. */
export const QuestionPage = () => {
  const { permissions, sessions } = useApp()
  const open = permissions.value
  return (
    <div class="overview">
      <h1>Waits for your answer</h1>
      {open.length === 0 ? (
        <p class="faint">Nothing. You will see it here and in the title of this tab.</p>
      ) : (
        <section class="questions" aria-label="Permission requests" aria-live="polite">
          {open.map((request) => (
            <Question
              key={request.id}
              question={request}
              session={{
                id: request.sessionID,
                title: titleOf(
                  sessions.value?.find(({ id }) => id === request.sessionID) ?? { id: request.sessionID },
                ),
              }}
            />
          ))}
        </section>
      )}
      <Approvals />
    </div>
  )
}
