/** Events that get a separate line in the timeline, and the text of that line. */
import type { Caps, StoredEvent, UnknownEvent } from "@meridian/protocol"
import { plainText, undoText } from "@meridian/protocol"

import { clip, type NoticeRow } from "./row.ts"

type Told = Pick<NoticeRow, "what" | "text" | "detail" | "restores" | "isBaseline">

export const describeEvent = (event: StoredEvent | UnknownEvent): NoticeRow => {
  const told = tell(event)
  return {
    kind: "notice",
    key: `notice_${event.seq}`,
    seq: event.seq,
    time: event.time,
    ...told,
    text: plainText(told.text),
  }
}

const tell = (event: StoredEvent | UnknownEvent): Told => {
  switch (event.type) {
    case "session.next.created.1":
      return info(`Session created in ${event.data.location.directory}`)
    case "session.next.agent.switched.1":
      return info(`Agent is now ${event.data.agent}`)
    case "session.next.model.switched.1":
      return info(`Model is now ${event.data.model}`)
    case "session.next.moved.1":
      return info(`Moved to ${event.data.location.directory}`)
    case "session.next.renamed.1":
      return info(`Renamed to ${event.data.title}`)
    case "session.next.titled.1":
      return info(`Titled by a model: ${event.data.title}`)
    case "session.next.archived.1":
      return info(event.data.archived ? "Archived" : "Taken out of the archive")
    case "session.next.prompt.cancelled.1":
      return info("A waiting prompt was taken back")
    case "session.next.interrupt.requested.1":
      return { what: "interrupt", text: "Interrupt requested" }
    case "session.next.retried.1":
      return {
        what: "failure",
        text: `Attempt ${event.data.attempt} failed, tried again after ${event.data.delayMs} ms: ${event.data.error.message}`,
      }
    case "session.next.parked.1":
      return {
        what: "failure",
        text: `Waits for the provider until ${new Date(event.data.until).toISOString()}: ${event.data.error.message}`,
      }
    case "session.next.tool.resumed.1":
      return info("A call that had only asked was restarted")
    case "session.next.output.given.1":
      return {
        what: "info",
        text: "Gave the requested value",
        detail: clip(JSON.stringify(event.data.value, null, 2)),
      }
    case "session.next.output.refused.1":
      return { what: "failure", text: `The answer did not fit: ${event.data.problem}` }
    case "session.next.tool.adjusted.1":
      return {
        what: "info",
        text: `The extension ${event.data.extension} changed the input of a call`,
        detail: clip(JSON.stringify(event.data.input, null, 2)),
      }
    case "session.next.files.kept.1":
      return info("Files were kept")
    case "session.next.undo.started.1":
      return info(event.data.action === "undo" ? "Taking back" : "Bringing back")
    case "session.next.files.missed.1":
      return { what: "failure", text: `Files were not kept for an undo: ${event.data.reason}` }
    case "session.next.undo.ended.1":
      return info(undoText(event.data))
    case "session.next.repetition.noticed.1":
      return {
        what: "failure",
        text: `The same call of ${event.data.tool} ${event.data.count} times in a row`,
      }
    case "session.next.tooling.failed.1":
      return { what: "failure", text: event.data.error.message }
    case "session.next.budget.changed.1":
      return info(`Budget set: ${capsInWords(event.data.caps)}`)
    case "session.next.warned.1":
      return { what: "failure", text: event.data.text }
    case "session.next.task.started.1":
      return info(`Session ${event.data.sessionID} began: ${event.data.title} (agent ${event.data.agent})`)
    case "session.next.task.ended.1":
      return info(`Session ${event.data.sessionID} ended: ${event.data.status}`)
    case "session.next.todo.updated.1": {
      const { items } = event.data
      const done = items.filter((item) => item.status === "completed").length
      return {
        what: "info",
        text: `Todo: ${done} of ${items.length} done`,
        detail: clip(items.map((item) => `${MARK[item.status]} ${item.content}`).join("\n")),
      }
    }
    case "session.next.permission.replied.1":
      return info(`Permission: ${ANSWER[event.data.reply]}${aside(event.data.message)}`)
    case "session.next.activity.resumed.1":
      return {
        what: "crash",
        text: `The work continues (attempt ${event.data.attempt} since its last progress)`,
      }
    case "session.next.question.asked.1":
      return info(`Asked: ${event.data.text}`)
    case "session.next.question.replied.1":
      return info(`Answered: ${event.data.answer.join(", ")}`)
    case "session.next.permission.revoked.1":
      return info(`No longer allowed for good: ${event.data.action} ${event.data.resource}`)
    case "session.next.epoch.started.1":
      return {
        what: "info",
        text: event.data.cause === "first" ? "Instructions of the session" : "Instructions renewed",
        detail: clip(event.data.baseline),
        isBaseline: true,
      }
    case "session.next.context.updated.1":
      return { what: "context", text: "Context changed", detail: clip(event.data.text) }
    case "session.next.instruction.discovered.1":
      return { what: "context", text: `Instructions found: ${event.data.path}` }
    case "session.next.tool.pruned.1":
      return info(`${event.data.calls.length} old tool results let go (${event.data.tokens} tokens)`)
    case "session.next.compaction.requested.1":
      return info("Compaction requested")
    case "session.next.compaction.restored.1":
      return event.data.compactionID === undefined
        ? { what: "info", text: "Back to the whole history", restores: "" }
        : {
            what: "info",
            text: `Back to the checkpoint ${event.data.compactionID}`,
            restores: event.data.compactionID,
          }
    case "session.next.synthetic.1":
      return info(`Added by a program: ${event.data.text}`)
    case "session.next.execution.failed.1":
      return { what: "failure", text: `${event.data.error.code}: ${event.data.error.message}` }
    case "unknown":
      return info(`An event this version cannot read: ${event.data.storedType}`)
    case "session.next.unparked.1":
    case "session.next.prompt.admitted.1":
    case "session.next.prompt.promoted.1":
    case "session.next.prompted.1":
    case "session.next.step.started.1":
    case "session.next.step.ended.2":
    case "session.next.step.failed.2":
    case "session.next.text.ended.1":
    case "session.next.reasoning.ended.1":
    case "session.next.tool.called.1":
    case "session.next.tool.success.1":
    case "session.next.tool.failed.1":
    case "session.next.permission.asked.1":
    case "session.next.compaction.started.1":
    case "session.next.compaction.ended.2":
    case "session.next.compaction.failed.1":
      return info(event.type)
  }
}

const capsInWords = (caps: Caps): string =>
  [
    caps.maxCost === undefined ? undefined : `${caps.maxCost} dollars`,
    caps.maxTokens === undefined ? undefined : `${caps.maxTokens} tokens`,
    caps.maxTurns === undefined ? undefined : `${caps.maxTurns} turns`,
    caps.maxTimeMs === undefined ? undefined : `${Math.round(caps.maxTimeMs / 1_000)} seconds of work`,
  ]
    .filter((part) => part !== undefined)
    .join(", ")

const info = (text: string): Told => ({ what: "info", text })

const aside = (message: string | undefined): string =>
  message === undefined || message === "" ? "" : `: ${message}`

const MARK = { pending: "[ ]", in_progress: "[~]", completed: "[x]", cancelled: "[-]" } as const
const ANSWER = {
  once: "allowed once",
  always: "always allowed",
  session: "allowed for all edits of this session",
  reject: "rejected",
} as const
