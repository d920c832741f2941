import { memo } from "preact/compat"
import { useState } from "preact/hooks"

import { OUTCOME } from "../domain/row-label.ts"
import type { CompactionRow, NoticeRow, ProseRow, Row, ToolRow, TurnRow, UserRow } from "../domain/row.ts"
import { costText, durationText, tokensText } from "../domain/text.ts"
import { ChildSession } from "./child-session.tsx"
import { FileDiff } from "./file-diff.tsx"
import { LongText } from "./long-text.tsx"

interface RowProps {
  readonly row: Row
  readonly sessionID: string
  readonly onCompaction: (id: string) => void
}

/** All text of a session is hostile: it enters the document as text and never as markup. */
export const RowView = memo(
  ({ row, sessionID, onCompaction }: RowProps) => {
    switch (row.kind) {
      case "user":
        return <User row={row} sessionID={sessionID} />
      case "turn":
        return <Turn row={row} />
      case "text":
      case "reasoning":
        return <Prose row={row} sessionID={sessionID} />
      case "tool":
        return <Tool row={row} sessionID={sessionID} />
      case "compaction":
        return <Compaction row={row} onCompaction={onCompaction} />
      case "notice":
        return <Notice row={row} />
    }
  },
  (before, after) => before.row === after.row,
)

const Time = ({ time }: { readonly time: number }) =>
  time === 0 ? null : (
    <time dateTime={new Date(time).toISOString()}>
      {new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" })}
    </time>
  )

const User = ({ row, sessionID }: { readonly row: UserRow; readonly sessionID: string }) => (
  <div class="row user">
    <div class="row-head">
      <strong>You</strong>
      {row.delivery === "queue" ? <span class="tag">queued</span> : null}
      {row.files > 0 ? <span class="tag">{row.files === 1 ? "1 file" : `${row.files} files`}</span> : null}
      <Time time={row.time} />
    </div>
    <LongText clip={row.body} whole={{ sessionID, messageID: row.messageID, part: "user" }} />
  </div>
)

const Turn = ({ row }: { readonly row: TurnRow }) => (
  <div class={`row turn is-${row.outcome}`}>
    <span class="turn-name">Turn {row.turn}</span>
    <span>{row.model}</span>
    <span class={`outcome is-${row.outcome}`}>{OUTCOME[row.outcome]}</span>
    {row.ended === undefined ? null : <span>{durationText(row.ended - row.time)}</span>}
    {row.usage === undefined ? null : (
      <span title="tokens in, of these from the cache, and tokens out">
        {tokensText(row.usage.input + row.usage.cacheRead + row.usage.cacheWrite)} in
        {row.usage.cacheRead > 0 ? ` (${tokensText(row.usage.cacheRead)} cached)` : ""} ·{" "}
        {tokensText(row.usage.output + row.usage.reasoning)} out
      </span>
    )}
    {row.cost === undefined || row.cost === 0 ? null : <span>{costText(row.cost)}</span>}
    {row.retries > 0 ? (
      <span class="tag">{row.retries === 1 ? "1 retry" : `${row.retries} retries`}</span>
    ) : null}
    <Time time={row.time} />
    {row.error === undefined ? null : <p class="problem">{row.error.message}</p>}
  </div>
)

const Prose = ({ row, sessionID }: { readonly row: ProseRow; readonly sessionID: string }) => (
  <div class={`row prose ${row.kind}${row.live ? " is-live" : ""}`}>
    {row.kind === "reasoning" ? (
      <div class="row-head">
        <strong>Reasoning</strong>
      </div>
    ) : null}
    <LongText
      clip={row.body}
      {...(row.kind === "text" ? { as: "markdown" as const } : {})}
      {...(row.live
        ? {}
        : { whole: { sessionID, messageID: row.messageID, part: row.kind, start: row.body.text } })}
    />
    {row.partial ? <span class="tag">ends here: cut off</span> : null}
  </div>
)

const Tool = ({ row, sessionID }: { readonly row: ToolRow; readonly sessionID: string }) => {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <div class={`row tool is-${row.outcome}`}>
      <button
        type="button"
        class="row-head tool-head"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        <strong>{row.tool}</strong>
        <span class="one-line">{row.summary}</span>
        {row.change === undefined ? null : (
          <span class="counts">
            <span class="good">+{row.change.added}</span> <span class="bad">−{row.change.removed}</span>
          </span>
        )}
        {row.pruned ? <span class="tag">let go</span> : null}
        {row.child === undefined ? null : <span class="tag">{row.child.status ?? "at work"}</span>}
        <span class={`outcome is-${row.outcome}`}>{OUTCOME[row.outcome]}</span>
        {row.ended === undefined ? null : <span class="number">{durationText(row.ended - row.time)}</span>}
      </button>
      {row.change === undefined ? null : <FileDiff change={row.change} />}
      {isOpen ? (
        <div class="tool-body">
          <h3>Input</h3>
          <LongText clip={row.input} as="code" />
          {row.output === undefined || (row.output.text === "" && row.media === 0) ? null : (
            <>
              <h3>Output</h3>
              <LongText
                clip={row.output}
                as="code"
                whole={{ sessionID, messageID: row.messageID, part: "tool", callID: row.callID }}
              />
            </>
          )}
          {row.media > 0 ? <p>{row.media} media, not shown here</p> : null}
          {row.child === undefined ? null : <ChildSession child={row.child} />}
        </div>
      ) : null}
      {row.error === undefined ? null : (
        <p class="problem">
          {row.error.code}: {row.error.message}
        </p>
      )}
    </div>
  )
}

const Compaction = (props: { readonly row: CompactionRow; readonly onCompaction: (id: string) => void }) => {
  const { row } = props
  const { end } = row
  return (
    <button
      type="button"
      class={`row compaction is-${row.status}`}
      aria-haspopup="dialog"
      onClick={() => props.onCompaction(row.compactionID)}
    >
      <strong>Compaction</strong>
      <span class="tag">{row.reason}</span>
      {end === undefined ? (
        <span>{row.status === "failed" ? (row.error?.message ?? "failed") : "running"}</span>
      ) : (
        <>
          <span>
            {tokensText(end.tokens.before)} → {tokensText(end.tokens.after)} tokens
          </span>
          <span>
            {end.messages} {end.messages === 1 ? "message" : "messages"} summarised, {end.kept.length} kept
          </span>
          {end.method === "extract" ? <span class="tag warn">extracted</span> : null}
          {end.method === "extension" ? <span class="tag">by an extension</span> : null}
          {end.removedQuotes.length > 0 ? (
            <span class="tag warn">
              {end.removedQuotes.length === 1 ? "1 false quote" : `${end.removedQuotes.length} false quotes`}{" "}
              removed
            </span>
          ) : null}
        </>
      )}
      <span class="more">Receipt</span>
    </button>
  )
}

const Notice = ({ row }: { readonly row: NoticeRow }) => {
  const [isOpen, setIsOpen] = useState(false)
  const { detail } = row
  return (
    <div class={`row notice is-${row.what}`}>
      {detail === undefined ? (
        <span>{row.text}</span>
      ) : (
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {row.text}
        </button>
      )}
      <Time time={row.time} />
      {isOpen && detail !== undefined ? <LongText clip={detail} as="code" /> : null}
    </div>
  )
}
