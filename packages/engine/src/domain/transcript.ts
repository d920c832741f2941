/**
 * One session, folded from its events: what a drain needs to know without reading the log again. The log is the truth;
 * a transcript is kept per active session, advanced event by event, and can be thrown away at any time.
 */
import type {
  ContextSnapshot,
  Json,
  JsonObject,
  Location,
  PermissionReply,
  Prompt,
  RecordedContent,
  RecordedError,
  RecordedUsage,
  StoredEvent,
  TodoItem,
  UnknownEvent,
} from "@meridian/protocol"

import { assert } from "./assert.ts"
import { advance } from "./context.ts"
import type { PendingInput } from "./promotion.ts"

export type ToolOutcome =
  | {
      readonly kind: "success"
      readonly content: readonly RecordedContent[]
      readonly result?: Json
      readonly metadata?: JsonObject
    }
  | {
      readonly kind: "failed"
      readonly error: RecordedError
      readonly result?: Json
      readonly metadata?: JsonObject
    }

export interface ToolPart {
  readonly type: "tool"
  readonly seq: number
  readonly callID: string
  readonly tool: string
  readonly input?: Json
  readonly raw?: string
  readonly hosted: boolean
  readonly metadata?: JsonObject
  outcome?: ToolOutcome
  /** Its result is not shown any more; the log has it. */
  pruned?: boolean
  /** It only asked so far: starting it again repeats nothing. Cleared when it is resumed. */
  restartable: boolean
}

export interface ProsePart {
  readonly type: "text" | "reasoning"
  readonly text: string
  readonly metadata?: JsonObject
}

export interface UserItem {
  readonly kind: "user"
  readonly id: string
  readonly seq: number
  readonly prompt: Prompt
}

export interface AssistantItem {
  readonly kind: "assistant"
  readonly id: string
  readonly seq: number
  readonly agent: string
  readonly model: string
  readonly parts: (ProsePart | ToolPart)[]
  ended: boolean
  error?: RecordedError
}

/** Context that changed while the session ran: one chronological message. */
export interface ContextItem {
  readonly kind: "context"
  readonly id: string
  readonly seq: number
  readonly text: string
}

/** Stands for everything that was compacted away. */
export interface CheckpointItem {
  readonly kind: "checkpoint"
  readonly id: string
  readonly seq: number
  readonly summary: string
  readonly recent: string
  readonly range: { readonly from: number; readonly through: number }
}

export type Item = UserItem | AssistantItem | ContextItem | CheckpointItem

/** Never changes any more, except by a new revision. */
export const isSettled = (item: Item): boolean =>
  item.kind !== "assistant" ||
  (item.ended && item.parts.every((part) => part.type !== "tool" || part.outcome !== undefined))

/** The baseline in force. */
export interface Epoch {
  readonly baseline: string
  readonly seq: number
  readonly snapshot: ContextSnapshot
}

/** How the last compaction went, for the breaker. */
export interface CompactionProgress {
  readonly seq: number
  readonly before: number
  readonly after: number
}

export interface OpenRequest {
  readonly requestID: string
  readonly messageID: string
  readonly callID: string
  readonly action: string
  readonly resources: readonly string[]
  reply?: { readonly reply: PermissionReply; readonly message?: string; readonly parked: boolean }
}

export interface ReportedUsage {
  readonly usage: RecordedUsage
  readonly seq: number
  readonly messageID: string
  readonly model: string
}

/** `resume`: to be run without being asked for again. */
export interface WaitingInput extends PendingInput {
  readonly prompt: Prompt
  readonly resume: boolean
}

export interface Transcript {
  /** Sequence of the last event folded in. */
  readonly seq: () => number
  readonly location: () => Location
  readonly agent: () => string | undefined
  readonly model: () => string | undefined
  readonly items: readonly Item[]
  /** Changes when an item was replaced or removed; while it stays, items are only added. */
  readonly revision: () => number
  /** The step that was started and has neither ended nor failed. */
  readonly openStep: () => AssistantItem | undefined
  /** Calls without an outcome, oldest first. */
  readonly openCalls: () => readonly { readonly assistant: AssistantItem; readonly part: ToolPart }[]
  readonly requests: ReadonlyMap<string, OpenRequest>
  readonly interruptSeq: () => number
  readonly todo: () => readonly TodoItem[]
  /** What the provider last reported, and for which turn of which model. */
  readonly lastUsage: () => ReportedUsage | undefined
  readonly prunedSeq: () => number
  readonly epoch: () => Epoch | undefined
  /** Sequence of the last completed compaction; native data from before it must not be sent. */
  readonly compactedSeq: () => number
  readonly compactionRequested: () => boolean
  /** Started, and neither ended nor failed: its process was lost. */
  readonly openCompaction: () => string | undefined
  readonly compactions: () => readonly CompactionProgress[]
  /** Instruction files found beside what was read. */
  readonly discovered: () => readonly string[]
  /** Admitted, and neither visible nor cancelled yet; oldest first. */
  readonly pending: () => readonly WaitingInput[]
  /** Everything people have said, oldest first, also what was compacted. */
  readonly userTexts: () => readonly string[]
  /** A restore made this fold wrong; it must be made again from the log. */
  readonly outdated: () => boolean
  /** A rough count of characters held, for the cache that keeps idle transcripts. */
  readonly weight: () => number
  readonly apply: (event: StoredEvent | UnknownEvent) => void
}

/** Compactions that a restore has taken back, and how far that is known. */
export interface Restoration {
  readonly ignored: ReadonlySet<string>
  readonly through: number
}

export const createTranscript = (
  restoration: Restoration = { ignored: new Set(), through: 0 },
): Transcript => {
  let seq = 0
  let location: Location | undefined
  let agent: string | undefined
  let model: string | undefined
  let interruptSeq = 0
  let todo: readonly TodoItem[] = []
  let lastUsage: ReportedUsage | undefined
  let prunedSeq = 0
  let weight = 0
  let openStep: AssistantItem | undefined
  let epoch: Epoch | undefined
  let compactedSeq = 0
  let compactionRequested = false
  let openCompaction: string | undefined
  let outdated = false
  const compactions: CompactionProgress[] = []
  const discovered: string[] = []
  const userTexts: string[] = []
  const items: Item[] = []
  let revision = 0
  const admitted = new Map<string, WaitingInput>()
  const requests = new Map<string, OpenRequest>()
  const open = new Set<{ assistant: AssistantItem; part: ToolPart }>()

  const assistantOf = (id: string): AssistantItem | undefined => {
    const found = items.findLast((item) => item.kind === "assistant" && item.id === id)
    return found?.kind === "assistant" ? found : undefined
  }

  const openCall = (messageID: string, callID: string) => {
    for (const entry of open)
      if (entry.assistant.id === messageID && entry.part.callID === callID) return entry
    return undefined
  }

  const settle = (messageID: string, callID: string, outcome: ToolOutcome) => {
    const entry = openCall(messageID, callID)
    if (entry === undefined) return
    entry.part.outcome = outcome
    open.delete(entry)
    for (const [id, request] of requests)
      if (request.messageID === messageID && request.callID === callID) requests.delete(id)
  }

  const isAsking = (messageID: string, callID: string): boolean =>
    [...requests.values()].some(
      (request) =>
        request.messageID === messageID && request.callID === callID && request.reply === undefined,
    )

  const addUser = (id: string, atSeq: number, prompt: Prompt) => {
    items.push({ kind: "user", id, seq: atSeq, prompt })
    userTexts.push(prompt.text)
  }

  /** A new object: whoever remembers how the old one looked must look again. */
  const prune = (messageID: string, callID: string) => {
    const index = items.findIndex((item) => item.kind === "assistant" && item.id === messageID)
    const item = items[index]
    if (item?.kind !== "assistant") return
    const parts = item.parts.map((part) =>
      part.type === "tool" && part.callID === callID ? Object.assign({}, part, { pruned: true }) : part,
    )
    items[index] = { ...item, parts }
    revision += 1
  }

  const replace = (from: (item: Item) => boolean, first: readonly Item[]) => {
    const left = items.filter((item) => !from(item))
    revision += 1
    items.length = 0
    items.push(...first, ...left)
    weight = items.reduce((sum, item) => sum + itemWeight(item), 0)
  }

  const apply = (event: StoredEvent | UnknownEvent): void => {
    assert(event.seq === seq + 1, `event ${event.seq} follows ${seq}`)
    seq = event.seq
    switch (event.type) {
      case "session.next.created.1":
        location = event.data.location
        agent = event.data.agent
        model = event.data.model
        return
      case "session.next.agent.switched.1":
        agent = event.data.agent
        return
      case "session.next.model.switched.1":
        model = event.data.model
        return
      case "session.next.moved.1":
        location = event.data.location
        // The context of the old place says nothing about the new one.
        epoch = undefined
        discovered.length = 0
        replace((item) => item.kind === "context", [])
        return
      case "session.next.prompt.admitted.1": {
        const { messageID, prompt, delivery, resume } = event.data
        admitted.set(messageID, { id: messageID, prompt, delivery, resume, admittedSeq: event.seq })
        weight += prompt.text.length
        return
      }
      case "session.next.prompt.cancelled.1":
        admitted.delete(event.data.messageID)
        return
      case "session.next.prompt.promoted.1": {
        const input = admitted.get(event.data.messageID)
        assert(input !== undefined, "a promoted input was admitted")
        admitted.delete(event.data.messageID)
        addUser(event.data.messageID, event.seq, input.prompt)
        return
      }
      case "session.next.prompted.1":
        weight += event.data.prompt.text.length
        addUser(event.data.messageID, event.seq, event.data.prompt)
        return
      case "session.next.interrupt.requested.1":
        interruptSeq = event.seq
        return
      case "session.next.step.started.1":
        openStep = {
          kind: "assistant",
          id: event.data.assistantMessageID,
          seq: event.seq,
          agent: event.data.agent,
          model: event.data.model,
          parts: [],
          ended: false,
        }
        items.push(openStep)
        return
      case "session.next.step.ended.2": {
        const assistant = assistantOf(event.data.assistantMessageID)
        if (assistant !== undefined) assistant.ended = true
        if (assistant === openStep) openStep = undefined
        if (assistant !== undefined)
          lastUsage = {
            usage: event.data.usage,
            seq: event.seq,
            messageID: assistant.id,
            model: assistant.model,
          }
        return
      }
      case "session.next.step.failed.2": {
        const assistant = assistantOf(event.data.assistantMessageID)
        if (assistant !== undefined) {
          assistant.ended = true
          assistant.error = event.data.error
        }
        if (assistant === openStep) openStep = undefined
        return
      }
      case "session.next.text.ended.1":
      case "session.next.reasoning.ended.1": {
        const { text, metadata } = event.data
        weight += text.length
        assistantOf(event.data.assistantMessageID)?.parts.push({
          type: event.type === "session.next.text.ended.1" ? "text" : "reasoning",
          text,
          ...(metadata === undefined ? {} : { metadata }),
        })
        return
      }
      case "session.next.tool.called.1": {
        const { assistantMessageID, callID, tool, input, raw, hosted, metadata } = event.data
        const assistant = assistantOf(assistantMessageID)
        if (assistant === undefined) return
        const part: ToolPart = {
          type: "tool",
          seq: event.seq,
          callID,
          tool,
          hosted: hosted === true,
          restartable: false,
          ...(input === undefined ? {} : { input }),
          ...(raw === undefined ? {} : { raw }),
          ...(metadata === undefined ? {} : { metadata }),
        }
        weight += tool.length + (raw?.length ?? 200)
        assistant.parts.push(part)
        open.add({ assistant, part })
        return
      }
      case "session.next.tool.resumed.1": {
        const entry = openCall(event.data.assistantMessageID, event.data.callID)
        // While its question is open it still has not acted, however often it was started again.
        if (entry !== undefined) entry.part.restartable = isAsking(entry.assistant.id, entry.part.callID)
        return
      }
      case "session.next.tool.success.1": {
        const { assistantMessageID, callID, content, result, metadata } = event.data
        weight += contentLength(content)
        settle(assistantMessageID, callID, {
          kind: "success",
          content,
          ...(result === undefined ? {} : { result }),
          ...(metadata === undefined ? {} : { metadata }),
        })
        return
      }
      case "session.next.tool.failed.1": {
        const { assistantMessageID, callID, error, result, metadata } = event.data
        weight += error.message.length
        settle(assistantMessageID, callID, {
          kind: "failed",
          error,
          ...(result === undefined ? {} : { result }),
          ...(metadata === undefined ? {} : { metadata }),
        })
        return
      }
      case "session.next.todo.updated.1":
        todo = event.data.items
        return
      case "session.next.permission.asked.1": {
        const { requestID, assistantMessageID, callID, action, resources } = event.data
        requests.set(requestID, { requestID, messageID: assistantMessageID, callID, action, resources })
        const entry = openCall(assistantMessageID, callID)
        if (entry !== undefined) entry.part.restartable = true
        return
      }
      case "session.next.permission.replied.1": {
        const request = requests.get(event.data.requestID)
        if (request === undefined) return
        const { reply, message, parked } = event.data
        request.reply = { reply, parked, ...(message === undefined ? {} : { message }) }
        const entry = openCall(request.messageID, request.callID)
        if (entry !== undefined) entry.part.restartable = parked
        return
      }
      case "session.next.epoch.started.1":
        epoch = { baseline: event.data.baseline, seq: event.seq, snapshot: event.data.snapshot }
        // What the updates said is part of the new baseline.
        replace((item) => item.kind === "context", [])
        return
      case "session.next.context.updated.1":
        if (epoch !== undefined) epoch = { ...epoch, snapshot: advance(epoch.snapshot, event.data) }
        items.push({ kind: "context", id: event.data.messageID, seq: event.seq, text: event.data.text })
        return
      case "session.next.instruction.discovered.1":
        discovered.push(event.data.path)
        return
      case "session.next.tool.pruned.1":
        prunedSeq = event.seq
        for (const { assistantMessageID, callID } of event.data.calls) prune(assistantMessageID, callID)
        return
      case "session.next.compaction.requested.1":
        compactionRequested = true
        return
      case "session.next.compaction.started.1":
        openCompaction = event.data.compactionID
        compactionRequested = false
        return
      case "session.next.compaction.failed.1":
        openCompaction = undefined
        compactionRequested = false
        return
      case "session.next.compaction.ended.2": {
        openCompaction = undefined
        const { compactionID, summary, recent, range, tokens } = event.data
        if (restoration.ignored.has(compactionID)) return
        compactedSeq = event.seq
        compactions.push({ seq: event.seq, ...tokens })
        const kept = new Set(event.data.kept)
        replace(
          (item) => item.kind !== "context" && !kept.has(item.id),
          [{ kind: "checkpoint", id: compactionID, seq: event.seq, summary, recent, range }],
        )
        return
      }
      case "session.next.compaction.restored.1":
        if (event.seq > restoration.through) outdated = true
        return
      case "unknown":
      case "session.next.retried.1":
      case "session.next.repetition.noticed.1":
      case "session.next.execution.failed.1":
        return
    }
  }

  return {
    seq: () => seq,
    location: () => {
      assert(location !== undefined, "a session begins with its creation")
      return location
    },
    agent: () => agent,
    model: () => model,
    items,
    revision: () => revision,
    openStep: () => openStep,
    openCalls: () => [...open],
    requests,
    interruptSeq: () => interruptSeq,
    todo: () => todo,
    lastUsage: () => lastUsage,
    prunedSeq: () => prunedSeq,
    epoch: () => epoch,
    compactedSeq: () => compactedSeq,
    compactionRequested: () => compactionRequested,
    openCompaction: () => openCompaction,
    compactions: () => compactions,
    discovered: () => discovered,
    pending: () => [...admitted.values()],
    userTexts: () => userTexts,
    outdated: () => outdated,
    weight: () => weight,
    apply,
  }
}

const itemWeight = (item: Item): number => {
  switch (item.kind) {
    case "user":
      return item.prompt.text.length
    case "context":
      return item.text.length
    case "checkpoint":
      return item.summary.length + item.recent.length
    case "assistant":
      return item.parts.reduce(
        (sum, part) =>
          sum +
          (part.type === "tool"
            ? 200 + (part.outcome?.kind === "success" ? contentLength(part.outcome.content) : 100)
            : part.text.length),
        0,
      )
  }
}

const contentLength = (content: readonly RecordedContent[]): number => {
  let total = 0
  for (const part of content) total += part.type === "text" ? part.text.length : part.base64.length
  return total
}
