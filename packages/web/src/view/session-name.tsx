import type { SessionInfo } from "@meridian/server/client"
import { useState } from "preact/hooks"

import { useApp } from "../state/app.ts"
import { useAct } from "./use-act.ts"

/** The title of a session, with rename and archive. */
export const SessionName = ({
  info,
  title,
}: {
  readonly info: SessionInfo | undefined
  readonly title: string
}) => {
  const { sessions } = useApp().client
  const { act, isActing, problem } = useAct()
  const [draft, setDraft] = useState<string>()
  if (info === undefined) return <h1>{title}</h1>
  const { id: sessionID, archived = false } = info
  const rename = (event: Event): void => {
    event.preventDefault()
    const wanted = draft?.trim() ?? ""
    if (wanted === "") return setDraft(undefined)
    act(async () => {
      await sessions.rename({ sessionID, title: wanted })
      setDraft(undefined)
    })
  }
  return (
    <div class="session-name">
      {draft === undefined ? (
        <>
          <h1>{title}</h1>
          <button type="button" class="quiet" onClick={() => setDraft(info.title ?? "")}>
            Rename
          </button>
          <button
            type="button"
            class="quiet"
            disabled={isActing}
            onClick={() => act(() => sessions.archive({ sessionID, archived: !archived }))}
          >
            {archived ? "Take out of the archive" : "Archive"}
          </button>
        </>
      ) : (
        <form onSubmit={rename}>
          <label>
            <span class="hidden">Title</span>
            <input
              value={draft}
              maxLength={300}
              ref={(input) => input?.focus()}
              onInput={(event) => setDraft(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === "Escape") setDraft(undefined)
              }}
            />
          </label>
          <button type="submit" disabled={isActing}>
            Save
          </button>
          <button type="button" class="quiet" onClick={() => setDraft(undefined)}>
            Cancel
          </button>
        </form>
      )}
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
