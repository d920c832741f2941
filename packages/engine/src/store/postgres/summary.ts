/** A session as lists show it, stored with the session. Its writer derives it, so that a list reads no log. Pure. */
import {
  BOOLEAN,
  COUNT,
  decoder,
  LOCATION,
  NUMBER,
  objectOf,
  oneOf,
  parseObject,
  QUESTION_KIND,
  RECORDED_USAGE,
  STRING,
  type RecordedError,
  type RecordedUsage,
} from "@meridian/protocol"

import type { LoggedEvent } from "../../domain/logged-event.ts"
import { parentCall } from "../../domain/parent-call.ts"
import { nextTitle, type Title } from "../../domain/title.ts"
import { AT_ONCE, NEVER } from "../../domain/transcript/parking.ts"
import type { SessionSummary } from "../../port/store.ts"

/** The part that follows from the log alone. Its owner and the questions of its calls are separate rows. */
export type LogSummary = Omit<SessionSummary, "id" | "isAsking" | "isAnswered" | "isHeldElsewhere"> & {
  readonly titleBy: Title["by"] | undefined
}

export const NO_SUMMARY: LogSummary = {
  seq: 0,
  location: { directory: "" },
  agent: undefined,
  model: undefined,
  title: undefined,
  titleBy: undefined,
  isArchived: false,
  created: 0,
  updated: 0,
  usage: { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
  cost: 0,
  parkedUntil: undefined,
  question: undefined,
  task: undefined,
  trouble: undefined,
}

export const nextSummary = (before: LogSummary, event: LoggedEvent): LogSummary => {
  const summary = { ...before, ...titleAfter(before, event), seq: event.seq, updated: event.time }
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the others change nothing that a list shows
  switch (event.type) {
    case "session.next.created.1": {
      const { location, agent, model, task } = event.data
      return { ...summary, location, agent, model, task: parentCall(task), created: event.time }
    }
    case "session.next.agent.switched.1":
      return { ...summary, agent: event.data.agent }
    case "session.next.model.switched.1":
      return { ...summary, model: event.data.model }
    case "session.next.moved.1":
      return { ...summary, location: event.data.location }
    case "session.next.archived.1":
      return { ...summary, isArchived: event.data.archived }
    case "session.next.parked.1":
      return { ...summary, parkedUntil: Math.round(event.data.until) }
    case "session.next.activity.resumed.1":
      return { ...summary, parkedUntil: AT_ONCE }
    case "session.next.question.asked.1":
      return event.data.callID === undefined
        ? { ...summary, parkedUntil: NEVER, question: event.data.kind }
        : summary
    case "session.next.question.replied.1":
      return event.data.callID === undefined && summary.question !== undefined
        ? { ...summary, parkedUntil: AT_ONCE, question: undefined }
        : summary
    case "session.next.step.started.1":
    case "session.next.unparked.1":
    case "session.next.interrupt.requested.1":
      return summary.parkedUntil === undefined ? summary : { ...summary, ...NOT_PARKED }
    case "session.next.step.ended.2":
      return { ...spent(summary, event.data), trouble: undefined }
    case "session.next.undo.ended.1":
      return event.data.conversation ? { ...summary, trouble: undefined, ...NOT_PARKED } : summary
    case "session.next.output.given.1":
      return { ...summary, trouble: undefined, ...NOT_PARKED }
    case "session.next.task.ended.1":
    case "session.next.titled.1":
    case "session.next.compaction.ended.2":
      return spent(summary, event.data)
    case "session.next.step.failed.2":
      return { ...summary, trouble: troubleOf(event.data.error) }
    case "session.next.execution.failed.1":
      return { ...summary, trouble: troubleOf(event.data.error), ...NOT_PARKED }
    case "session.next.tool.failed.1":
      // The work behind the call is unfinished. The session shows this until a step ends well.
      return event.data.error.code === "interrupted" ? { ...summary, trouble: "interrupted" } : summary
    default:
      return summary
  }
}

const titleAfter = (
  { title, titleBy }: LogSummary,
  event: LoggedEvent,
): Pick<LogSummary, "title" | "titleBy"> => {
  const before = title === undefined ? undefined : { text: title, by: titleBy ?? "person" }
  const after = nextTitle(before, event)
  return { title: after?.text, titleBy: after?.by }
}

const NOT_PARKED = { parkedUntil: undefined, question: undefined } as const

const troubleOf = ({ code }: RecordedError): LogSummary["trouble"] =>
  code === "INTERRUPTED" ? "interrupted" : "failed"

const spent = (
  summary: LogSummary,
  { usage, cost }: { readonly usage: RecordedUsage; readonly cost: number },
): LogSummary => ({
  ...summary,
  usage: {
    input: summary.usage.input + usage.input,
    output: summary.usage.output + usage.output,
    reasoning: summary.usage.reasoning + usage.reasoning,
    cacheRead: summary.usage.cacheRead + usage.cacheRead,
    cacheWrite: summary.usage.cacheWrite + usage.cacheWrite,
  },
  cost: summary.cost + cost,
})

export const shownSummary = ({ titleBy: _by, ...shown }: LogSummary): Omit<LogSummary, "titleBy"> => shown

/** The stored form. */
export const summaryText = (summary: LogSummary): string => JSON.stringify(summary)

const SUMMARY = objectOf(
  {
    seq: COUNT,
    location: LOCATION,
    isArchived: BOOLEAN,
    created: NUMBER,
    updated: NUMBER,
    usage: RECORDED_USAGE,
    cost: NUMBER,
  },
  {
    agent: STRING,
    model: STRING,
    title: STRING,
    titleBy: oneOf("person", "model", "words"),
    parkedUntil: NUMBER,
    question: QUESTION_KIND,
    task: objectOf({ sessionID: STRING, messageID: STRING, callID: STRING, depth: COUNT }),
    trouble: oneOf("failed", "interrupted"),
  },
)
const decode = decoder(SUMMARY, { unknown: "strip" })

/** An unreadable summary says little but does not hide the session. */
export const readSummary = (text: string): LogSummary => {
  const decoded = decode(parseObject(text))
  return decoded.tag === "value" ? { ...NO_SUMMARY, ...decoded.value } : NO_SUMMARY
}
