import type { SessionInfo } from "@meridian/server/client"

import { fragmentOf } from "../domain/route.ts"
import { agoText, costText, placeText, tokensText } from "../domain/text.ts"
import { useApp } from "../state/app.ts"
import { NewSession } from "./new-session.tsx"

export const SessionList = () => {
  const { sessions, route, hasMore, showMore } = useApp()
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
  return (
    <>
      <NewSession />
      <ul class="cards">
        {list.map((session) => (
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

export const titleOf = (session: Pick<SessionInfo, "id" | "title">): string =>
  session.title === undefined || session.title.trim() === "" ? session.id : session.title

export const Status = ({ status }: { readonly status: string }) => (
  <span class={`status is-${status}`}>{status}</span>
)
