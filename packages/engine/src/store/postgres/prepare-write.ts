/** Turns events into one write: numbered, as text, with the rows and the summary that follow from them. Pure. */
import type { StoredEvent } from "@meridian/protocol"

import type { DatedEvent } from "../../domain/fork.ts"
import { SHARED } from "../../domain/workspaces.ts"
import type { Write } from "./append-statement.ts"
import { indexed, indexRowsOf } from "./index-rows.ts"
import { nextSummary, summaryText, type LogSummary } from "./summary.ts"

export interface PreparedWrite {
  readonly write: Write
  /** The summary once the write is stored. */
  readonly summary: LogSummary
}

export const prepareWrite = (options: {
  readonly key: number
  readonly fence?: number | undefined
  readonly after: number
  readonly summary: LogSummary
  readonly mark: string
  readonly events: readonly DatedEvent[]
}): PreparedWrite => {
  const { key, fence, after, mark, events } = options
  const numbered: readonly StoredEvent[] = events.map((event, index) =>
    Object.assign({ seq: after + index + 1 }, event),
  )
  const summary = numbered.reduce(nextSummary, options.summary)
  return {
    summary,
    write: {
      key,
      fence,
      after,
      mark,
      summary: summaryText(summary),
      parkedUntil: summary.parkedUntil,
      workspace: indexed(summary.location.workspaceID ?? SHARED),
      rows: indexRowsOf(numbered),
      events: numbered.map(({ seq, type, time, data }) => ({ seq, type, time, data: JSON.stringify(data) })),
    },
  }
}
