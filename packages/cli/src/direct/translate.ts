/**
 * Turns the durable events of a session into the events of a run, and says how the run ended. A fold: state inside,
 * no I/O. It reads no deltas; a run gets whole texts.
 */
import type { SessionEvent } from "@meridian/engine"
import {
  asObject,
  isJsonList,
  textAt,
  type Json,
  type RecordedContent,
  type RecordedError,
  type RecordedUsage,
  type ToolKind,
} from "@meridian/protocol"
import type { DirectEvent, Usage } from "@meridian/spaces"

import { classOfFailure } from "./failure-class.ts"

export type Ending =
  /** Everything that began has finished. */
  | { readonly tag: "settled" }
  | { readonly tag: "interrupted" }
  | { readonly tag: "failed"; readonly error: RecordedError }
  /** It stopped in the middle, without a recorded reason. */
  | { readonly tag: "unfinished"; readonly why: string }

export interface Translator {
  readonly push: (event: SessionEvent) => readonly DirectEvent[]
  readonly ending: () => Ending
}

interface OpenCall {
  readonly tool: string
  readonly kind: ToolKind | undefined
}

const UNBEGUN: Ending = { tag: "unfinished", why: "The session ended before a turn began." }

export const openTranslator = (options: {
  /** Whether the price of a model is known. Without a price, a cost of 0 means nothing. */
  readonly isPriced: (model: string) => boolean
}): Translator => {
  const calls = new Map<string, OpenCall>()
  let ending: Ending = UNBEGUN
  let model = ""

  const usageEvent = (usage: RecordedUsage, cost: number, by: string): DirectEvent => ({
    type: "usage",
    usage: usageOf(usage, options.isPriced(by) ? cost : undefined),
  })

  const endCall = (callID: string, status: "completed" | "failed", output: string): DirectEvent => {
    const tool = calls.get(callID)?.tool ?? ""
    calls.delete(callID)
    return { type: "tool.ended", call: callID, tool, status, output }
  }

  const push = (event: SessionEvent): readonly DirectEvent[] => {
    switch (event.type) {
      case "session.next.step.started.1":
        model = event.data.model
        ending = { tag: "unfinished", why: "A turn began but did not end." }
        return []
      case "session.next.text.ended.1":
        return event.data.text === "" ? [] : [{ type: "text", text: event.data.text }]
      case "session.next.reasoning.ended.1":
        return event.data.text === "" ? [] : [{ type: "reasoning", text: event.data.text }]
      case "session.next.tool.called.1": {
        const { callID, tool, input, raw, kind } = event.data
        calls.set(callID, { tool, kind })
        return [{ type: "tool.started", call: callID, tool, input: input ?? { raw: raw ?? "" } }]
      }
      case "session.next.tool.success.1": {
        const { callID, content, structured } = event.data
        const kind = calls.get(callID)?.kind
        return [endCall(callID, "completed", textOf(content)), ...filesOf(kind, structured)]
      }
      case "session.next.tool.failed.1":
        return [endCall(event.data.callID, "failed", event.data.error.message)]
      case "session.next.permission.asked.1":
        return [
          {
            type: "warning",
            message: `Permission was asked: ${event.data.action} on ${event.data.resources.join(", ")}.`,
          },
        ]
      case "session.next.permission.replied.1":
        return event.data.reply === "reject"
          ? [{ type: "warning", message: `Permission was refused: ${event.data.message ?? "rejected"}` }]
          : []
      case "session.next.activity.resumed.1":
        return [
          {
            type: "warning",
            message: `The process of this work was lost; the work continues (attempt ${event.data.attempt}).`,
          },
        ]
      case "session.next.question.asked.1":
        return [{ type: "warning", message: `A question was asked: ${event.data.text}` }]
      case "session.next.question.replied.1":
        return [{ type: "warning", message: `The question was answered: ${event.data.answer.join(", ")}` }]
      case "session.next.output.given.1":
        ending = { tag: "settled" }
        return [{ type: "text", text: JSON.stringify(event.data.value) }]
      case "session.next.output.refused.1":
        return [{ type: "warning", message: `The answer did not fit: ${event.data.problem}` }]
      case "session.next.tooling.failed.1":
        return [{ type: "warning", message: event.data.error.message }]
      case "session.next.tool.adjusted.1":
        return [
          { type: "warning", message: `The extension ${event.data.extension} changed the input of a call.` },
        ]
      case "session.next.files.missed.1":
        return [{ type: "warning", message: `Files were not kept for an undo: ${event.data.reason}.` }]
      case "session.next.repetition.noticed.1":
        return [
          {
            type: "warning",
            message: `The same call of ${event.data.tool} was made ${event.data.count} times in a row.`,
          },
        ]
      case "session.next.warned.1":
        return [{ type: "warning", message: event.data.text }]
      case "session.next.retried.1": {
        const { attempt, error } = event.data
        return [{ type: "retry", attempt, failure: classOfFailure(error), message: error.message }]
      }
      case "session.next.parked.1":
        return [
          {
            type: "warning",
            message: `The provider asks to come back at ${new Date(event.data.until).toISOString()}: ${event.data.error.message}`,
          },
        ]
      case "session.next.compaction.started.1":
        return [{ type: "compaction", phase: "started", tokensBefore: event.data.tokens }]
      case "session.next.compaction.ended.2": {
        const { tokens, usage, cost } = event.data
        return [
          { type: "compaction", phase: "ended", tokensBefore: tokens.before, tokensAfter: tokens.after },
          usageEvent(usage, cost, model),
        ]
      }
      case "session.next.compaction.failed.1":
        return [{ type: "compaction", phase: "failed" }]
      case "session.next.step.ended.2": {
        const { usage, cost, finish } = event.data
        ending = endingOf(finish)
        return [usageEvent(usage, cost, model), { type: "turn.ended", reason: finish }]
      }
      case "session.next.step.failed.2":
      case "session.next.execution.failed.1": {
        const { error } = event.data
        ending = error.code === "INTERRUPTED" ? { tag: "interrupted" } : { tag: "failed", error }
        return []
      }
      case "session.next.interrupt.requested.1":
        ending = { tag: "interrupted" }
        return []
      // What the model is told, and what people decide: not part of what a run did.
      case "session.next.created.1":
      case "session.next.agent.switched.1":
      case "session.next.model.switched.1":
      case "session.next.moved.1":
      case "session.next.renamed.1":
      case "session.next.titled.1":
      case "session.next.files.kept.1":
      case "session.next.undo.started.1":
      case "session.next.undo.ended.1":
      case "session.next.archived.1":
      case "session.next.prompt.admitted.1":
      case "session.next.prompt.promoted.1":
      case "session.next.prompt.cancelled.1":
      case "session.next.prompted.1":
      case "session.next.synthetic.1":
      case "session.next.task.started.1":
      case "session.next.task.ended.1":
      case "session.next.epoch.started.1":
      case "session.next.context.updated.1":
      case "session.next.instruction.discovered.1":
      case "session.next.todo.updated.1":
      case "session.next.budget.changed.1":
      case "session.next.unparked.1":
      case "session.next.tool.resumed.1":
      case "session.next.tool.pruned.1":
      case "session.next.permission.revoked.1":
      case "session.next.compaction.requested.1":
      case "session.next.compaction.restored.1":
      case "unknown":
      case "synced":
        return []
    }
  }

  return { push, ending: () => ending }
}

const endingOf = (finish: string): Ending => {
  switch (finish) {
    case "length":
      return { tag: "unfinished", why: "The answer was cut at the output limit of the model." }
    case "content-filter":
      return { tag: "failed", error: { code: "content", message: "The provider withheld the answer." } }
    default:
      return { tag: "settled" }
  }
}

/** From the engine's five kinds of tokens: what was written into the cache was read first, and reasoning is output. */
const usageOf = (usage: RecordedUsage, costUsd: number | undefined): Usage => ({
  inputTokens: usage.input + usage.cacheWrite,
  cachedInputTokens: usage.cacheRead,
  outputTokens: usage.output + usage.reasoning,
  ...(costUsd === undefined ? {} : { costUsd }),
})

const textOf = (content: readonly RecordedContent[]): string =>
  content.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n")

/** The files that an edit tool says it wrote, one or several. */
const filesOf = (kind: ToolKind | undefined, structured: Json | undefined): readonly DirectEvent[] => {
  if (kind !== "edit") return []
  const { files = [structured] } = asObject(structured) ?? {}
  return (isJsonList(files) ? files : []).flatMap((entry): readonly DirectEvent[] => {
    const file = asObject(entry)
    const [path, to] = [textAt(file, "path"), textAt(file, "to")]
    if (path === undefined) return []
    if (to !== undefined)
      return [
        { type: "file", path, change: "deleted" },
        { type: "file", path: to, change: "written" },
      ]
    return [{ type: "file", path, change: textAt(file, "type") === "delete" ? "deleted" : "written" }]
  })
}
