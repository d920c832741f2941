import { plainText } from "@meridian/protocol"
import type { SessionInfo } from "@meridian/server/client"

import { fragmentOf } from "../domain/route.ts"
import { costText, tokensText } from "../domain/text.ts"
import { useApp } from "../state/app.ts"
import { Approvals } from "./approvals.tsx"

/** Shown beside the list while nothing is selected: what is running, and what waits for a person. */
export const Overview = () => {
  const { sessions, permissions, questions, hasMore } = useApp()
  const list = sessions.value
  if (list === undefined || list.length === 0) return <p class="empty">Choose a session, or make one.</p>
  const count = (...statuses: readonly string[]): number =>
    list.filter(({ status }) => statuses.includes(status)).length
  const sum = (of: (session: SessionInfo) => number): number =>
    list.reduce((total, session) => total + of(session), 0)
  return (
    <div class="overview">
      <h1>What is going on</h1>
      <dl class="tiles">
        <Tile name={hasMore.value ? "newest sessions" : "sessions"}>{list.length.toLocaleString()}</Tile>
        <Tile name="at work">{count("running")}</Tile>
        <Tile name="wait for an answer">{count("waiting")}</Tile>
        <Tile name="cut off or failed">{count("interrupted", "failed")}</Tile>
        <Tile name="tokens written">{tokensText(sum(({ usage }) => usage.output + usage.reasoning))}</Tile>
        <Tile name="spent">{costText(sum(({ cost }) => cost))}</Tile>
      </dl>
      {permissions.value.length + questions.value.length === 0 ? null : (
        <section>
          <h2>Waits for your answer</h2>
          <ul class="lines">
            {permissions.value.map((request) => (
              <li key={request.id}>
                <a href={fragmentOf({ place: "questions" })}>
                  {request.action}: {request.resources[0] ?? request.title}
                </a>
              </li>
            ))}
            {questions.value.map(({ id, text }) => (
              <li key={id}>
                <a href={fragmentOf({ place: "questions" })}>{plainText(text)}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Approvals />
    </div>
  )
}

const Tile = (props: { readonly name: string; readonly children: preact.ComponentChildren }) => (
  <div class="tile">
    <dt>{props.name}</dt>
    <dd>{props.children}</dd>
  </div>
)
