import { useEffect, useMemo, useRef } from "preact/hooks"

import { compactionView, survivors, type Seen } from "../domain/compaction-view.ts"
import type { CompactionEnd, CompactionRow } from "../domain/row.ts"
import { costText, durationText, tokensText } from "../domain/text.ts"
import type { Timeline } from "../domain/timeline.ts"

/** What one compaction kept and dropped, and what the model saw before and after it. */
export const ReceiptDialog = (props: {
  readonly timeline: Timeline
  readonly compactionID: string
  readonly version: number
  readonly onClose: () => void
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const element = dialog.current
    const before = document.activeElement
    element?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  const row = props.timeline.rows.find(
    (other): other is CompactionRow =>
      other.kind === "compaction" && other.compactionID === props.compactionID,
  )
  return (
    <dialog ref={dialog} class="receipt" aria-labelledby="receipt-title" onClose={props.onClose}>
      <div class="receipt-head">
        <h2 id="receipt-title">Receipt of the compaction</h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {row === undefined ? (
        <p>This compaction is not in the log.</p>
      ) : (
        <Receipt row={row} timeline={props.timeline} />
      )}
    </dialog>
  )
}

const Receipt = ({ row, timeline }: { readonly row: CompactionRow; readonly timeline: Timeline }) => {
  const view = useMemo(() => compactionView(timeline.rows, row), [row])
  const { end } = row
  return (
    <>
      <dl class="facts">
        <Fact name="Why">{REASON[row.reason]}</Fact>
        <Fact name="State">{row.status}</Fact>
        <Fact name="Summarised by">
          {end?.method === "extract"
            ? `extracted from the log: ${end.fallback ?? "no model could"}`
            : end?.method === "extension"
              ? "an extension"
              : row.model}
        </Fact>
        {row.ended === undefined ? null : <Fact name="Took">{durationText(row.ended - row.time)}</Fact>}
        {end === undefined ? null : <EndFacts end={end} />}
        {row.error === undefined ? null : <Fact name="Failed">{row.error.message}</Fact>}
      </dl>
      {end === undefined || end.removedQuotes.length === 0 ? null : (
        <section>
          <h3>Removed quotes: the summary claims that somebody said these, but nobody did</h3>
          <ul class="quotes">
            {end.removedQuotes.map((quote, place) => (
              <li key={place}>
                <del>{quote}</del>
              </li>
            ))}
          </ul>
        </section>
      )}
      {end === undefined || end.facts.length === 0 ? null : <Facts end={end} seen={view.after} />}
      <div class="sides">
        <Side title="The model saw before" seen={view.before} hidden={view.hiddenBefore} />
        <Side title="The model sees after" seen={view.after} hidden={view.hiddenAfter} />
      </div>
    </>
  )
}

/** What a bad summary must not lose, compared with what the model really sees. */
const Facts = ({ end, seen }: { readonly end: CompactionEnd; readonly seen: readonly Seen[] }) => {
  const shown = survivors(end.facts, seen)
  return (
    <details>
      <summary>
        {shown.size} of {end.facts.length} {end.facts.length === 1 ? "fact" : "facts"} that had to survive{" "}
        {shown.size === 1 ? "stands" : "stand"} in what the model sees after
      </summary>
      <ul class="fact-list">
        {end.facts.map((fact, place) => (
          <li key={place}>
            <span class={shown.has(fact) ? "there" : "not-there"}>
              {shown.has(fact) ? "shown" : "not found"}
            </span>
            <span class="tag">{fact.kind}</span> {fact.text}
          </li>
        ))}
      </ul>
    </details>
  )
}

const EndFacts = ({ end }: { readonly end: CompactionEnd }) => (
  <>
    <Fact name="Tokens">
      {tokensText(end.tokens.before)} → {tokensText(end.tokens.after)}
    </Fact>
    <Fact name="Messages">
      {end.messages} summarised, {end.kept.length} kept word for word
    </Fact>
    <Fact name="Range">
      events {end.range.from} to {end.range.through}
    </Fact>
    <Fact name="Cost">
      {costText(end.cost)} · {tokensText(end.usage.input + end.usage.cacheRead + end.usage.cacheWrite)} in,{" "}
      {tokensText(end.usage.output + end.usage.reasoning)} out
    </Fact>
  </>
)

const Fact = (props: { readonly name: string; readonly children: preact.ComponentChildren }) => (
  <div>
    <dt>{props.name}</dt>
    <dd>{props.children}</dd>
  </div>
)

const Side = (props: { readonly title: string; readonly seen: readonly Seen[]; readonly hidden: number }) => (
  <section class="side-list" aria-label={props.title}>
    <h3>{props.title}</h3>
    {props.hidden > 0 ? <p class="faint">{props.hidden.toLocaleString()} older ones are not listed</p> : null}
    <ol tabIndex={0} aria-label={props.title}>
      {props.seen.map((item) => (
        <li key={item.key} class={`seen is-${item.role}${item.stays ? "" : " goes"}`}>
          <span class="tag">{ROLE[item.role]}</span>
          {item.stays ? null : <span class="tag warn">replaced</span>}
          {item.role === "instructions" ? (
            <details>
              <summary>{item.text.length.toLocaleString()} characters</summary>
              <p class="words">{item.text}</p>
            </details>
          ) : (
            <p class="words">{item.text}</p>
          )}
        </li>
      ))}
    </ol>
  </section>
)

const REASON = {
  auto: "the window was nearly full",
  overflow: "the provider refused the request as too long",
  manual: "somebody asked for it",
} as const satisfies Record<CompactionRow["reason"], string>

const ROLE = {
  instructions: "instructions and brief",
  summary: "summary",
  recent: "recent, word for word",
  user: "you",
  assistant: "agent",
  tool: "tool",
  context: "context",
} as const satisfies Record<Seen["role"], string>
