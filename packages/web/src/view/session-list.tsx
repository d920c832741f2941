import type { SessionInfo } from "@meridian/server/client"
import { useState } from "preact/hooks"

import { fragmentOf } from "../domain/route.ts"
import { matchesSearch, titleOf } from "../domain/session-title.ts"
import { agoText, costText, placeText, tokensText } from "../domain/text.ts"
import { useApp } from "../state/app.ts"
import { NewSession } from "./new-session.tsx"

export const SessionList = () => {
  const { sessions, route, hasMore, showMore } = useApp()
  const [search, setSearch] = useState("")
  const [isArchiveShown, setIsArchiveShown] = useState(false)
  const list = sessions.value
  if (list === undefined) return <p class="empty">Loading…</p>
  if (list.length === 0)
    return (
      <>
        <NewSession />
        <p class="empty">
          No sessions yet. Make one here, or with <code>meridian start --harness direct</code>.
        </p>
      </>
    )
  const open = route.value.place === "session" ? route.value.id : undefined
  const put = list.filter((session) => session.archived === true).length
  // A child is listed only in the call that began it.
  const top = list.filter((session) => session.parent === undefined || session.id === open)
  const kept = isArchiveShown ? top : top.filter((session) => session.archived !== true)
  const found = search.trim() === "" ? kept : kept.filter((session) => matchesSearch(session, search.trim()))
  return (
    <>
      <NewSession />
      <label class="search">
        <span class="hidden">Search the sessions</span>
        <input
          id="search"
          type="search"
          placeholder="Search title, folder, model, state"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </label>
      {put === 0 ? null : (
        <label class="archive">
          <input
            type="checkbox"
            checked={isArchiveShown}
            onChange={(event) => setIsArchiveShown(event.currentTarget.checked)}
          />
          Show {put} archived
        </label>
      )}
      <p class="hidden" role="status">
        {search.trim() === "" ? "" : `${found.length} of ${list.length} sessions`}
      </p>
      {found.length === 0 ? <p class="empty">No listed session matches.</p> : null}
      <ul class="cards">
        {found.map((session) => (
          <li key={session.id}>
            <Card session={session} isOpen={session.id === open} />
          </li>
        ))}
      </ul>
      {hasMore.value ? (
        <button type="button" class="quiet" onClick={showMore}>
          Show older sessions
        </button>
      ) : null}
    </>
  )
}

const Card = ({ session, isOpen }: { readonly session: SessionInfo; readonly isOpen: boolean }) => (
  <a
    class="card"
    href={fragmentOf({ place: "session", id: session.id })}
    aria-current={isOpen ? "true" : undefined}
  >
    <span class="card-title">{titleOf(session)}</span>
    <Status status={session.status} />
    <span class="card-facts">
      {placeText(session.location.directory)} · {session.model ?? "default model"}
    </span>
    <span class="card-facts">
      {tokensText(session.usage.output + session.usage.reasoning)} written · {costText(session.cost)} ·{" "}
      {agoText(session.time.updated, Date.now())}
    </span>
  </a>
)

export const Status = ({ status }: { readonly status: string }) => (
  <span class={`status is-${status}`}>{status}</span>
)
