import type { CommentedLine, RunDocument } from "@meridian/server/client"
import { useState } from "preact/hooks"

import { fragmentOf } from "../domain/route.ts"
import { isUnderWay } from "../domain/run-diff.ts"
import { useApp } from "../state/app.ts"
import { useAct } from "./use-act.ts"

/** A comment on a line. It becomes the next message of the run, or continues a run that has ended. */
export const LineComment = (props: {
  readonly run: RunDocument
  readonly at: CommentedLine
  readonly close: () => void
}) => {
  const { run, at, close } = props
  const { spaces } = useApp().client
  const { act, isActing, problem } = useAct()
  const [words, setWords] = useState("")
  const [outcome, setOutcome] = useState<"told" | { readonly run: string }>()
  const place = { spaceID: run.spaceId, runID: run.runId }
  const isOpen = isUnderWay(run)
  const send = (event?: Event): void => {
    event?.preventDefault()
    const text = words.trim()
    if (text === "") return
    act(async () => {
      if (isOpen) {
        await spaces.send({ ...place, text, at })
        setOutcome("told")
      } else setOutcome({ run: (await spaces.continue({ ...place, text, at })).runId })
    })
  }
  if (outcome !== undefined)
    return (
      <p class="line-comment" role="status">
        {outcome === "told" ? (
          "Sent. The agent gets it at the end of its turn."
        ) : (
          <>
            Sent:{" "}
            <a href={fragmentOf({ place: "run", spaceID: run.spaceId, id: outcome.run })}>{outcome.run}</a>{" "}
            goes on with it.
          </>
        )}{" "}
        <button type="button" class="quiet" onClick={close}>
          Close
        </button>
      </p>
    )
  return (
    <form class="line-comment" onSubmit={send}>
      <label>
        <span class="hidden">
          Comment on {at.path}, line {at.line}
        </span>
        <textarea
          rows={2}
          maxLength={20_000}
          placeholder={isOpen ? "Tell the agent about this line" : "The run continues with this"}
          value={words}
          ref={(field) => void (words === "" && field?.focus())}
          onInput={(event) => setWords(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") close()
            else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event)
          }}
        />
      </label>
      <div class="actions">
        <button type="submit" class="primary" disabled={isActing || words.trim() === ""}>
          {isOpen ? `Send to ${run.runId}` : `Continue ${run.runId} with this`}
        </button>
        <button type="button" class="quiet" onClick={close}>
          Cancel
        </button>
      </div>
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  )
}
