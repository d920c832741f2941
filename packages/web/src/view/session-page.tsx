import { useEffect, useMemo, useState } from "preact/hooks"

import { failureText } from "../domain/failure-text.ts"
import { titleOf } from "../domain/session-title.ts"
import { costText, placeText, tokensText } from "../domain/text.ts"
import { tokenSeries } from "../domain/token-series.ts"
import { useApp } from "../state/app.ts"
import { openSession, type OpenSession, type StreamState } from "../state/open-session.ts"
import { Cast } from "./cast.tsx"
import { Composer } from "./composer.tsx"
import { Feed } from "./feed.tsx"
import { Questions } from "./questions.tsx"
import { ReceiptDialog } from "./receipt-dialog.tsx"
import { Status } from "./session-list.tsx"
import { SessionName } from "./session-name.tsx"
import { Stays } from "./stays.tsx"
import { TodoList } from "./todo-list.tsx"
import { TokenPlot } from "./token-plot.tsx"

export const SessionPage = ({ id }: { readonly id: string }) => {
  const app = useApp()
  const [session, setSession] = useState<OpenSession>()
  useEffect(() => {
    const opened = openSession({ id, client: app.client, note: app.note })
    setSession(opened)
    return opened.close
  }, [id])
  return session === undefined ? <p class="empty">Opening…</p> : <Opened session={session} />
}

const Opened = ({ session }: { readonly session: OpenSession }) => {
  const app = useApp()
  const [compactionID, setCompactionID] = useState<string>()
  const version = session.version.value
  const models = app.models.value
  const series = useMemo(
    () =>
      tokenSeries(
        session.timeline.points,
        (model) => models.find((known) => known.id === model)?.contextWindow,
      ),
    [session.timeline.points.length, models],
  )
  const stream = session.stream.value
  if (stream.kind === "refused")
    return (
      <p class="empty" role="alert">
        {failureText(stream.failure)}
      </p>
    )
  return (
    <div class="session">
      <Head session={session} stream={stream} />
      <TokenPlot series={series} onCompaction={setCompactionID} />
      <Questions session={session} version={version} />
      <div class="work">
        <Feed
          timeline={session.timeline}
          sessionID={session.id}
          version={version}
          onCompaction={setCompactionID}
        />
        <TodoList items={session.timeline.todo()} />
      </div>
      <Composer session={session} version={version} />
      {compactionID === undefined ? null : (
        <ReceiptDialog
          timeline={session.timeline}
          compactionID={compactionID}
          version={version}
          onClose={() => setCompactionID(undefined)}
        />
      )}
    </div>
  )
}

const Head = ({ session, stream }: { readonly session: OpenSession; readonly stream: StreamState }) => {
  const info = session.info.value
  return (
    <div class="session-head">
      <SessionName info={info} title={titleOf(info ?? { id: session.id })} />
      <div class="session-facts">
        {info === undefined ? null : (
          <>
            <Status status={info.status} />
            <span title={info.location.directory}>{placeText(info.location.directory)}</span>
            <Cast info={info} lastModel={session.timeline.model()} />
            <span>
              {tokensText(info.usage.input + info.usage.cacheRead + info.usage.cacheWrite)} in ·{" "}
              {tokensText(info.usage.output + info.usage.reasoning)} out
            </span>
            <span>{costText(info.cost)}</span>
            <Stays stays={session.stays.value} />
          </>
        )}
        <span class={`stream is-${stream.kind}`} role="status">
          {STREAM[stream.kind]}
        </span>
      </div>
    </div>
  )
}

const STREAM = {
  replaying: "loading…",
  live: "live",
  lost: "connection lost, trying again…",
  refused: "refused",
} as const satisfies Record<StreamState["kind"], string>
