import type { Delivery } from "@meridian/protocol"
import { useRef, useState } from "preact/hooks"

import { useApp } from "../state/app.ts"
import type { OpenSession } from "../state/open-session.ts"
import { useAct } from "./use-act.ts"

/** Sends prompts, cancels waiting ones, stops and compacts. `version` says when to draw again. */
export const Composer = ({ session }: { readonly session: OpenSession; readonly version: number }) => {
  const { sessions } = useApp().client
  const sessionID = session.id
  const [text, setText] = useState("")
  const [delivery, setDelivery] = useState<Delivery>("steer")
  const [note, setNote] = useState<string>()
  // Keeps the same id until the prompt was admitted, so that a retry after a lost answer is not a second prompt.
  const draft = useRef<string | undefined>(undefined)
  const sending = useAct()
  const compacting = useAct()
  const other = useAct()
  const status = session.info.value?.status
  const isBusy = session.timeline.isBusy() || status === "running" || status === "waiting"
  const problem = sending.problem ?? compacting.problem ?? other.problem

  const send = (): void => {
    if (text.trim() === "") return
    sending.act(async () => {
      setNote(undefined)
      draft.current ??= `msg_${crypto.randomUUID().replaceAll("-", "")}`
      await sessions.prompt({ sessionID, id: draft.current, prompt: { text }, delivery })
      draft.current = undefined
      setText("")
    })
  }

  return (
    <section class="composer" aria-label="Prompt">
      <Pending
        session={session}
        cancel={(id) => other.act(() => sessions.cancel({ sessionID, inputID: id }))}
      />
      {problem === undefined ? null : <p role="alert">{problem}</p>}
      {note === undefined ? null : <p role="status">{note}</p>}
      <textarea
        aria-label="Prompt"
        rows={2}
        placeholder="Tell the agent what to do (Enter sends, Shift+Enter for a new line)"
        value={text}
        onInput={(event) => {
          draft.current = undefined
          setText(event.currentTarget.value)
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      <div class="actions">
        <button type="button" class="primary" disabled={sending.isActing} onClick={send}>
          Send
        </button>
        <fieldset>
          <legend class="hidden">When the agent is at work</legend>
          {DELIVERIES.map(({ value, label, title }) => (
            <label key={value} title={title}>
              <input
                type="radio"
                name="delivery"
                checked={delivery === value}
                onChange={() => setDelivery(value)}
              />
              {label}
            </label>
          ))}
        </fieldset>
        <span class="gap" />
        {isBusy || !(status === "interrupted" || status === "failed") ? null : (
          <button
            type="button"
            title="Ask the model once more, without a new prompt"
            disabled={other.isActing}
            onClick={() => other.act(() => sessions.run({ sessionID, timeoutSecs: SOON_SECS }))}
          >
            Continue
          </button>
        )}
        <button
          type="button"
          disabled={compacting.isActing}
          onClick={() =>
            compacting.act(async () => {
              setNote("Compacting at the next safe boundary…")
              const { receipt } = await sessions.compact({ sessionID }).catch((cause: unknown) => {
                setNote(undefined)
                throw cause
              })
              setNote(receipt === undefined ? "There was nothing to compact." : undefined)
            })
          }
        >
          Compact
        </button>
        <button
          type="button"
          class="danger"
          disabled={!isBusy || other.isActing}
          onClick={() => other.act(() => sessions.interrupt({ sessionID }))}
        >
          Interrupt
        </button>
      </div>
    </section>
  )
}

/** The answer comes soon, and the work continues on its own. */
const SOON_SECS = 1

const DELIVERIES = [
  { value: "steer", label: "Steer", title: "Joins the work at the next safe boundary" },
  { value: "queue", label: "Queue", title: "Waits until the work has settled" },
] as const

const Pending = (props: { readonly session: OpenSession; readonly cancel: (id: string) => void }) => {
  const pending = [...props.session.timeline.pending.values()]
  if (pending.length === 0) return null
  return (
    <ul class="pending" aria-label="Prompts that wait">
      {pending.map((input) => (
        <li key={input.id}>
          <span class="tag">{input.delivery === "steer" ? "steers" : "queued"}</span>
          <span class="one-line">{input.text}</span>
          <button type="button" class="quiet" onClick={() => props.cancel(input.id)}>
            Take back
          </button>
        </li>
      ))}
    </ul>
  )
}
