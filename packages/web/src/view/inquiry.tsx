import { plainText } from "@meridian/protocol"
import type { OpenQuestion } from "@meridian/server/client"
import { useState } from "preact/hooks"

import { fragmentOf } from "../domain/route.ts"
import { useApp } from "../state/app.ts"
import { useAct } from "./use-act.ts"

/** A question other than a permission: from a call, or from the engine about a limit, a budget or a crash. */
export const Inquiry = (props: {
  readonly question: OpenQuestion
  /** In a list with others: the session it belongs to. */
  readonly session?: { readonly id: string; readonly title: string }
}) => {
  const { question, session } = props
  const app = useApp()
  const [words, setWords] = useState("")
  const [chosen, setChosen] = useState<readonly string[]>([])
  const { act, isActing, problem } = useAct()
  const reply = (answer: readonly string[]): void =>
    act(async () => {
      await app.client.questions.reply({ requestID: question.id, answer: [...answer] })
      app.refresh()
    })
  const said = words.trim() === "" ? [] : [words.trim()]
  const toggle = (label: string): void =>
    setChosen(chosen.includes(label) ? chosen.filter((one) => one !== label) : [...chosen, label])
  return (
    <form
      class="question"
      onSubmit={(event) => {
        event.preventDefault()
        reply([...chosen, ...said])
      }}
    >
      <p>
        <strong>{NAMES[question.kind]}</strong>
        {` — ${plainText(question.text)}`}
        {session === undefined ? null : (
          <>
            {" in "}
            <a href={fragmentOf({ place: "session", id: session.id })}>{session.title}</a>
          </>
        )}
      </p>
      <div class="actions">
        {question.choices.map(({ label, description }) =>
          question.multiple ? (
            <label key={label} title={plainText(description ?? "")}>
              <input type="checkbox" checked={chosen.includes(label)} onChange={() => toggle(label)} />
              {` ${plainText(label)}`}
            </label>
          ) : (
            <button
              key={label}
              type="button"
              title={plainText(description ?? "")}
              disabled={isActing}
              onClick={() => reply([label])}
            >
              {plainText(label)}
            </button>
          ),
        )}
        {question.other ? (
          <label>
            <span class="hidden">Your answer</span>
            <input
              placeholder="Your answer"
              value={words}
              onInput={(event) => setWords(event.currentTarget.value)}
            />
          </label>
        ) : null}
        {question.other || question.multiple ? (
          <button type="submit" class="primary" disabled={isActing || chosen.length + said.length === 0}>
            Answer
          </button>
        ) : null}
      </div>
      {problem === undefined ? null : <p role="alert">{problem}</p>}
    </form>
  )
}

const NAMES = {
  tool: "A question",
  limit: "A limit of the provider",
  budget: "The budget is used up",
  recovery: "Work that crashed",
  compaction: "Compactions that lead nowhere",
} as const satisfies Record<OpenQuestion["kind"], string>
