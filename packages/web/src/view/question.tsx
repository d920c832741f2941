import type { PermissionReply } from "@meridian/protocol"
import { useState } from "preact/hooks"

import { fragmentOf } from "../domain/route.ts"
import { useApp } from "../state/app.ts"
import { useAct } from "./use-act.ts"

/** One question that an agent asks before it acts, with the means to answer it. */
export const Question = (props: {
  readonly question: {
    readonly id: string
    readonly action: string
    readonly title: string
    readonly resources: readonly string[]
  }
  /** In a list with others: the session it belongs to. */
  readonly session?: { readonly id: string; readonly title: string }
}) => {
  const { question, session } = props
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
        {session === undefined ? null : (
          <>
            {" in "}
            <a href={fragmentOf({ place: "session", id: session.id })}>{session.title}</a>
          </>
        )}
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
          {question.action === "edit" ? "Allow this file" : "Always allow"}
        </button>
        {question.action === "edit" ? (
          <button type="button" disabled={isActing} onClick={() => reply("session")}>
            All edits of this session
          </button>
        ) : null}
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
