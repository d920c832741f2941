import { plainText } from "@meridian/protocol"
import type { RunDocument } from "@meridian/server/client"
import { useState } from "preact/hooks"

import { useApp } from "../state/app.ts"
import { useAct } from "./use-act.ts"

/** A run that waits for a person: the reason, and what lets it continue. */
export const PausedRun = ({ run }: { readonly run: RunDocument }) => {
  const { spaces } = useApp().client
  const { act, isActing, problem } = useAct()
  const [dollars, setDollars] = useState("")
  const isSpent = run.waitingFor === "budget"
  const maxCost = Number(dollars)
  const isAmount = dollars.trim() !== "" && Number.isFinite(maxCost) && maxCost > 0
  const resume = (event: Event): void => {
    event.preventDefault()
    act(async () => {
      await spaces.resume({
        spaceID: run.spaceId,
        runID: run.runId,
        ...(isAmount ? { maxCost } : {}),
      })
    })
  }
  return (
    <form class="question" onSubmit={resume}>
      <p>
        <strong>{isSpent ? "The budget is used up" : "Paused"}</strong>
        {run.message === undefined ? null : ` — ${plainText(run.message)}`}
      </p>
      <div class="actions">
        {isSpent ? (
          <label>
            {"May cost in all, in dollars "}
            <input
              inputMode="decimal"
              value={dollars}
              onInput={(event) => setDollars(event.currentTarget.value)}
            />
          </label>
        ) : null}
        <button type="submit" class="primary" disabled={isActing}>
          Go on
        </button>
      </div>
      {problem === undefined ? null : <p role="alert">{problem}</p>}
    </form>
  )
}
