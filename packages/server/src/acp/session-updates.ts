/**
 * What a client is told about a session. A fold without I/O: durable events and live fragments go in, ACP updates come out.
 * A replay and live output go through the same fold, so both show the same.
 */
import type { ContentBlock, SessionUpdate, ToolCallUpdate } from "@agentclientprotocol/sdk"
import type { LiveItem, SessionEvent } from "@meridian/engine"
import {
  asObject,
  numberAt,
  textAt,
  type DurableEventData,
  type Json,
  type Prompt,
  type RecordedContent,
  type ToolKind,
} from "@meridian/protocol"

import { configOptionsOf, type Choices } from "./choices.ts"
import { openSpoken } from "./spoken.ts"
import { resultContent, shownTitle, showsDifference, toolFace, type ToolFace } from "./tool-face.ts"

export interface ClientFeatures {
  /** The client shows output in its own terminals (`_meta.terminal_output`). */
  readonly terminalOutput: boolean
  readonly compactions: boolean
  readonly notices: boolean
}

/** A question from the log, with the call it is about. */
export type Question = DurableEventData["session.next.permission.asked.1"] & {
  readonly toolCall: ToolCallUpdate
}

export interface SessionUpdates {
  readonly event: (event: SessionEvent) => readonly SessionUpdate[]
  readonly live: (item: LiveItem) => readonly SessionUpdate[]
  readonly choices: () => Choices
  readonly question: (requestID: string) => Question | undefined
  /** How the last turn ended. */
  readonly ending: () => Ending
}

export type Ending =
  | { readonly tag: "finished"; readonly finish: string }
  | { readonly tag: "interrupted" }
  | { readonly tag: "failed" }

export interface UpdatesOptions {
  readonly directory: string
  readonly features: ClientFeatures
  readonly choices: Choices
  /** This client sent the prompt and shows it itself. */
  readonly isOwnPrompt: (messageID: string) => boolean
}

interface Call {
  readonly tool: string
  readonly kind: ToolKind | undefined
  readonly input?: Json
  readonly face: ToolFace
}

export const openSessionUpdates = (options: UpdatesOptions): SessionUpdates => {
  const { directory, features } = options
  const spoken = openSpoken()
  const admitted = new Map<string, Prompt>()
  const calls = new Map<string, Call>()
  const questions = new Map<string, Question>()
  let choices = options.choices
  let ending: Ending = { tag: "finished", finish: "" }
  let contextWindow: number | undefined
  let cost = 0

  const say = (
    kind: "agent_message_chunk" | "agent_thought_chunk",
    messageId: string,
    text: string,
  ): readonly SessionUpdate[] =>
    text === "" ? [] : [{ sessionUpdate: kind, content: { type: "text", text }, messageId }]

  const userChunks = (messageId: string, prompt: Prompt | undefined): readonly SessionUpdate[] =>
    prompt === undefined || options.isOwnPrompt(messageId)
      ? []
      : promptBlocks(prompt).map((content) => ({ sessionUpdate: "user_message_chunk", content, messageId }))

  const update = (id: string, more: Omit<ToolCallUpdate, "toolCallId">): readonly SessionUpdate[] => [
    { sessionUpdate: "tool_call_update", toolCallId: id, ...more },
  ]

  const notice = (
    severity: "info" | "warning" | "error",
    title: string,
    description: string,
  ): readonly SessionUpdate[] =>
    features.notices ? [{ sessionUpdate: "notice", severity, title, description }] : []

  const chosen = (next: Partial<Choices>): readonly SessionUpdate[] => {
    choices = { ...choices, ...next }
    return [{ sessionUpdate: "config_option_update", configOptions: configOptionsOf(choices) }]
  }

  const begin = (data: DurableEventData["session.next.tool.called.1"]): readonly SessionUpdate[] => {
    const { tool, input, raw, kind } = data
    const id = callId(data)
    const face = toolFace({ tool, input, kind }, directory)
    calls.set(id, { tool, kind, face, ...(input === undefined ? {} : { input }) })
    const inTerminal = features.terminalOutput && kind === "execute"
    return [
      {
        sessionUpdate: "tool_call",
        toolCallId: id,
        name: tool,
        title: face.title,
        kind: face.kind,
        status: "in_progress",
        locations: face.locations,
        content: inTerminal ? [{ type: "terminal", terminalId: id }] : face.content,
        rawInput: input ?? raw ?? "",
        ...(inTerminal ? { _meta: { terminal_info: { terminal_id: id, cwd: directory } } } : {}),
      },
    ]
  }

  const succeed = (data: DurableEventData["session.next.tool.success.1"]): readonly SessionUpdate[] => {
    const id = callId(data)
    const kind = calls.get(id)?.kind
    calls.delete(id)
    const { content, structured } = data
    const inTerminal = features.terminalOutput && kind === "execute"
    return update(id, {
      status: "completed",
      // When omitted, the content shown before stays: the diff of an edit, the terminal of a command.
      ...(inTerminal || showsDifference(kind) ? {} : { content: resultContent(kind, content) }),
      rawOutput: structured ?? textOf(content),
      ...(inTerminal ? { _meta: terminalEnd(id, textOf(content), structured) } : {}),
    })
  }

  const fail = (data: DurableEventData["session.next.tool.failed.1"]): readonly SessionUpdate[] => {
    const id = callId(data)
    const kind = calls.get(id)?.kind
    calls.delete(id)
    const { message } = data.error
    const inTerminal = features.terminalOutput && kind === "execute"
    return update(id, {
      status: "failed",
      ...(inTerminal ? {} : { content: resultContent(undefined, [{ type: "text", text: message }]) }),
      rawOutput: { error: message },
      ...(inTerminal ? { _meta: terminalEnd(id, message, undefined) } : {}),
    })
  }

  const compaction = (compactionId: string, status: string, more: object = {}): readonly SessionUpdate[] =>
    features.compactions ? [{ sessionUpdate: "compaction_update", compactionId, status, ...more }] : []

  const event = (read: SessionEvent): readonly SessionUpdate[] => {
    switch (read.type) {
      case "session.next.prompt.admitted.1":
        admitted.set(read.data.messageID, read.data.prompt)
        return []
      case "session.next.prompt.cancelled.1":
        admitted.delete(read.data.messageID)
        return []
      case "session.next.prompt.promoted.1": {
        const { messageID } = read.data
        const prompt = admitted.get(messageID)
        admitted.delete(messageID)
        return userChunks(messageID, prompt)
      }
      case "session.next.prompted.1":
        return userChunks(read.data.messageID, read.data.prompt)
      case "session.next.synthetic.1":
        return userChunks(read.data.messageID, { text: `(added by a program) ${read.data.text}` })
      case "session.next.step.started.1":
        contextWindow = read.data.contextWindow
        return []
      case "session.next.text.ended.1": {
        const { assistantMessageID, text } = read.data
        return say("agent_message_chunk", assistantMessageID, spoken.whole("text", assistantMessageID, text))
      }
      case "session.next.reasoning.ended.1": {
        const { assistantMessageID, text } = read.data
        const rest = spoken.whole("reasoning", assistantMessageID, text)
        return say("agent_thought_chunk", assistantMessageID, rest)
      }
      case "session.next.tool.called.1":
        return begin(read.data)
      case "session.next.tool.success.1":
        return succeed(read.data)
      case "session.next.tool.failed.1":
        return fail(read.data)
      case "session.next.tool.resumed.1":
        return update(callId(read.data), { status: "in_progress" })
      case "session.next.permission.asked.1":
        questions.set(read.data.requestID, { ...read.data, toolCall: asked(callId(read.data), calls) })
        return update(callId(read.data), { status: "pending" })
      case "session.next.permission.replied.1": {
        const question = questions.get(read.data.requestID)
        questions.delete(read.data.requestID)
        return question === undefined || read.data.reply === "reject"
          ? []
          : update(callId(question), { status: "in_progress" })
      }
      case "session.next.todo.updated.1":
        return [
          {
            sessionUpdate: "plan",
            entries: read.data.items.flatMap(({ content, status }) =>
              // A plan has no status for cancelled items.
              status === "cancelled" ? [] : [{ content, status, priority: "medium" as const }],
            ),
          },
        ]
      case "session.next.step.ended.2": {
        const { usage, finish, assistantMessageID } = read.data
        spoken.end(assistantMessageID)
        ending = { tag: "finished", finish }
        cost += read.data.cost
        if (contextWindow === undefined) return []
        const used = usage.input + usage.cacheRead + usage.cacheWrite + usage.output + usage.reasoning
        return [
          {
            sessionUpdate: "usage_update",
            used,
            size: contextWindow,
            cost: { amount: cost, currency: "USD" },
          },
        ]
      }
      case "session.next.step.failed.2":
        spoken.end(read.data.assistantMessageID)
        ending = isInterruption(read.data.error.code) ? { tag: "interrupted" } : { tag: "failed" }
        return ending.tag === "failed" ? notice("error", "The turn failed", read.data.error.message) : []
      case "session.next.execution.failed.1":
        ending = isInterruption(read.data.error.code) ? { tag: "interrupted" } : { tag: "failed" }
        return ending.tag === "failed" ? notice("error", "The work failed", read.data.error.message) : []
      case "session.next.interrupt.requested.1":
        ending = { tag: "interrupted" }
        return []
      case "session.next.retried.1":
        return notice("warning", "The provider failed and is asked again", read.data.error.message)
      case "session.next.parked.1":
        return notice(
          "warning",
          `The provider asks to come back at ${new Date(read.data.until).toISOString()}`,
          read.data.error.message,
        )
      case "session.next.activity.resumed.1":
        return notice("warning", "The process of this work was lost; the work continues", "")
      case "session.next.question.asked.1":
        return notice("warning", "A question waits for an answer", read.data.text)
      case "session.next.question.replied.1":
        return notice("info", "The question was answered", read.data.answer.join(", "))
      case "session.next.output.given.1": {
        const { assistantMessageID, value } = read.data
        ending = { tag: "finished", finish: "stop" }
        return say("agent_message_chunk", assistantMessageID, JSON.stringify(value, null, 2))
      }
      case "session.next.output.refused.1":
        return notice("warning", "The answer did not fit", read.data.problem)
      case "session.next.tooling.failed.1":
        return notice("warning", `${read.data.name} does not work`, read.data.error.message)
      case "session.next.tool.adjusted.1":
        return notice("info", `The extension ${read.data.extension} changed the input of a call`, "")
      case "session.next.files.missed.1":
        return notice("warning", "Files were not kept for an undo", read.data.reason)
      case "session.next.undo.ended.1":
        return notice("warning", read.data.action === "undo" ? "Taken back" : "Brought back", "")
      case "session.next.repetition.noticed.1":
        return notice("warning", `${read.data.tool} was called ${read.data.count} times alike`, "")
      case "session.next.warned.1":
        return notice("warning", "A warning", read.data.text)
      case "session.next.budget.changed.1":
      case "session.next.unparked.1":
      case "session.next.task.started.1":
      case "session.next.task.ended.1":
        return []
      case "session.next.agent.switched.1":
        return [
          { sessionUpdate: "current_mode_update", currentModeId: read.data.agent },
          ...chosen({ agent: read.data.agent }),
        ]
      case "session.next.model.switched.1":
        return chosen({ model: read.data.model })
      case "session.next.compaction.started.1":
        return compaction(read.data.compactionID, "in_progress")
      case "session.next.compaction.ended.2":
        cost += read.data.cost
        return compaction(read.data.compactionID, "completed", {
          summary: [{ type: "text", text: read.data.summary }],
        })
      case "session.next.compaction.failed.1":
        return compaction(read.data.compactionID, "failed", { error: read.data.error.message })
      case "session.next.renamed.1":
      case "session.next.titled.1":
        return [{ sessionUpdate: "session_info_update", title: shownTitle(read.data.title) }]
      // Context for the model, and events that concern only the engine.
      case "session.next.created.1":
      case "session.next.moved.1":
      case "session.next.files.kept.1":
      case "session.next.undo.started.1":
      case "session.next.archived.1":
      case "session.next.epoch.started.1":
      case "session.next.context.updated.1":
      case "session.next.instruction.discovered.1":
      case "session.next.tool.pruned.1":
      case "session.next.permission.revoked.1":
      case "session.next.compaction.requested.1":
      case "session.next.compaction.restored.1":
      case "unknown":
      case "synced":
        return []
    }
  }

  const live = (item: LiveItem): readonly SessionUpdate[] => {
    switch (item.type) {
      case "text.delta": {
        const { assistantMessageID: id, delta } = item.data
        return say("agent_message_chunk", id, spoken.fragment("text", id, delta))
      }
      case "reasoning.delta": {
        const { assistantMessageID: id, delta } = item.data
        return say("agent_thought_chunk", id, spoken.fragment("reasoning", id, delta))
      }
      case "dropped":
        spoken.miss()
        return []
      case "tool.input.delta":
      case "compaction.delta":
        return []
    }
  }

  return {
    event,
    live,
    choices: () => choices,
    question: (requestID) => questions.get(requestID),
    ending: () => ending,
  }
}

/** Providers restart their call ids every turn, but in a session each call needs a unique id. */
const callId = (call: { readonly assistantMessageID: string; readonly callID: string }): string =>
  `${call.assistantMessageID}/${call.callID}`

const asked = (id: string, calls: ReadonlyMap<string, Call>): ToolCallUpdate => {
  const call = calls.get(id)
  return {
    toolCallId: id,
    status: "pending",
    ...(call === undefined ? {} : { name: call.tool, ...withoutEmpty(call.face) }),
    ...(call?.input === undefined ? {} : { rawInput: call.input }),
  }
}

/** An empty list would remove what is already shown. */
const withoutEmpty = ({ content, ...face }: ToolFace): Omit<ToolFace, "content"> & Partial<ToolFace> =>
  content.length === 0 ? face : { ...face, content }

const isInterruption = (code: string): boolean => code.toUpperCase() === "INTERRUPTED"

const promptBlocks = ({ text, files = [] }: Prompt): readonly ContentBlock[] => [
  ...(text === "" ? [] : [{ type: "text" as const, text }]),
  ...files.map(({ mediaType, base64, name }): ContentBlock => {
    if (mediaType.startsWith("image/")) return { type: "image", mimeType: mediaType, data: base64 }
    const uri = `attachment:${encodeURIComponent(name ?? mediaType)}`
    return { type: "resource_link", name: name ?? mediaType, uri, mimeType: mediaType }
  }),
]

const textOf = (content: readonly RecordedContent[]): string =>
  content.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n")

/** The form for clients with their own terminals: the output, and how it ended. */
const terminalEnd = (id: string, data: string, structured: Json | undefined): Record<string, unknown> => ({
  terminal_output: { terminal_id: id, data },
  terminal_exit: {
    terminal_id: id,
    exit_code: numberAt(asObject(structured), "exit") ?? null,
    signal: textAt(asObject(structured), "signal") ?? null,
  },
})
