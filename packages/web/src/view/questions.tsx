import type { PermissionReply } from "@meridian/protocol"
import { useState } from "preact/hooks"

import type { OpenQuestion } from "../domain/timeline.ts"
import { useApp } from "../state/app.ts"
import type { OpenSession } from "../state/open-session.ts"
import { useAct } from "./use-act.ts"

/** What the agent asks before it acts. `version` says when to draw again. */
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

const Question = ({ question }: { readonly question: OpenQuestion }) => {
  const app = useApp()
  const [why, setWhy] = useState("")
  const { act, isActing, problem } = useAct()
  const reply = (answer: PermissionReply): void =>
    act(async () => {
      const message = why.trim()
      await app.client.permissions.reply({
        requestID: question.id,
        reply: answer,
        ...(answer === "reject" && message !== "" ? { message } : {}),
      })
      app.refresh()
    })
  return (
    <form class="question" onSubmit={(event) => event.preventDefault()}>
      <p>
        <strong>Permission to {question.action}</strong>
        {question.title === "" ? "" : ` — ${question.title}`}
      </p>
      <ul>
        {question.resources.map((resource) => (
          <li key={resource}>
            <code>{resource}</code>
          </li>
        ))}
      </ul>
      <div class="actions">
        <button type="button" class="primary" disabled={isActing} onClick={() => reply("once")}>
          Allow once
        </button>
        <button type="button" disabled={isActing} onClick={() => reply("always")}>
          Always allow
        </button>
        <button type="button" class="danger" disabled={isActing} onClick={() => reply("reject")}>
          Reject
        </button>
        <label>
          <span class="hidden">Why it is rejected, for the model</span>
          <input
            placeholder="Why not? (goes to the model with Reject)"
            value={why}
            onInput={(event) => setWhy(event.currentTarget.value)}
          />
        </label>
      </div>
      {problem === undefined ? null : <p role="alert">{problem}</p>}
    </form>
  )
}
