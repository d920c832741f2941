/**
 * The events of a session. A stored type is name + version; a changed meaning is a new version beside the old one, never
 * an edit. `DurableEventData` and `LiveEventData` are two tables: only a row of the first can be appended to a log, only
 * rows of the first have a sequence number, and no cursor can point at a row of the second.
 */
import type { MessageId, PermissionRequestId, SessionId } from "./id.ts"
import type { Json, JsonObject } from "./json.ts"

export type Delivery = "steer" | "queue"

export interface Location {
  /** Absolute path. */
  readonly directory: string
}

export interface PromptFile {
  readonly mediaType: string
  readonly base64: string
  readonly name?: string
}

export interface Prompt {
  readonly text: string
  readonly files?: readonly PromptFile[]
}

export interface RecordedError {
  /** A code of the failure catalogue, or the kind of a model or tool failure. */
  readonly code: string
  readonly message: string
  /** Of the provider's answer, when a model failed with one. */
  readonly status?: number
  /** How long the provider asks to stay away. */
  readonly retryAfterMs?: number
}

export interface RecordedUsage {
  readonly input: number
  readonly output: number
  readonly reasoning: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export type RecordedContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "media"; readonly mediaType: string; readonly base64: string }

export type PermissionReply = "once" | "always" | "reject"

export interface TodoItem {
  readonly content: string
  readonly status: "pending" | "in_progress" | "completed" | "cancelled"
}

export type CompactionReason = "auto" | "overflow" | "manual"

/** What each context source last told the model, and what will be said when it goes away. */
export type ContextSnapshot = { readonly [key: string]: { readonly value: Json; readonly removal: string } }

export interface DurableEventData {
  "session.next.created.1": {
    readonly sessionID: SessionId
    readonly location: Location
    readonly agent?: string
    readonly model?: string
    readonly title?: string
    /** A fork: which session it was copied from, how far, and when. */
    readonly parent?: { readonly sessionID: SessionId; readonly through: number; readonly time: number }
    /** An import: the kind of its source, what the conversation is called there, and which state of it was read. */
    readonly imported?: { readonly format: string; readonly id: string; readonly digest: string }
  }
  "session.next.agent.switched.1": { readonly agent: string }
  "session.next.model.switched.1": { readonly model: string }
  "session.next.moved.1": { readonly location: Location }
  "session.next.prompt.admitted.1": {
    readonly messageID: MessageId
    readonly prompt: Prompt
    readonly delivery: Delivery
    /** False: waits for an explicit wake, run or prompt, also after a restart. */
    readonly resume: boolean
  }
  "session.next.prompt.promoted.1": { readonly messageID: MessageId; readonly admittedSeq: number }
  "session.next.prompt.cancelled.1": { readonly messageID: MessageId }
  /** A prompt that was visible elsewhere before it came here (imports, the bridge of seed 004). */
  "session.next.prompted.1": { readonly messageID: MessageId; readonly prompt: Prompt }
  "session.next.interrupt.requested.1": Readonly<Record<string, never>>
  "session.next.step.started.1": {
    readonly assistantMessageID: MessageId
    readonly agent: string
    readonly model: string
    /** Tokens the model takes; absent in older logs. */
    readonly contextWindow?: number
  }
  "session.next.step.ended.2": {
    readonly assistantMessageID: MessageId
    readonly finish: string
    readonly usage: RecordedUsage
    readonly cost: number
    readonly metadata?: JsonObject
  }
  "session.next.step.failed.2": {
    readonly assistantMessageID: MessageId
    readonly error: RecordedError
  }
  "session.next.retried.1": {
    readonly assistantMessageID: MessageId
    /** The attempt that failed, from 1. */
    readonly attempt: number
    readonly delayMs: number
    readonly error: RecordedError
  }
  "session.next.text.ended.1": {
    readonly assistantMessageID: MessageId
    readonly text: string
    readonly metadata?: JsonObject
    /** The stream broke or was interrupted inside this text. */
    readonly partial?: boolean
  }
  "session.next.reasoning.ended.1": {
    readonly assistantMessageID: MessageId
    readonly text: string
    readonly metadata?: JsonObject
    readonly partial?: boolean
  }
  "session.next.tool.called.1": {
    readonly assistantMessageID: MessageId
    readonly callID: string
    readonly tool: string
    /** Parsed; absent when the model's text was not JSON, then `raw` has it. */
    readonly input?: Json
    readonly raw?: string
    /** The provider runs it itself and reports the result. */
    readonly hosted?: boolean
    readonly metadata?: JsonObject
  }
  /** A call that waited for a permission when its process died is started after all. */
  "session.next.tool.resumed.1": { readonly assistantMessageID: MessageId; readonly callID: string }
  "session.next.tool.success.1": {
    readonly assistantMessageID: MessageId
    readonly callID: string
    readonly content: readonly RecordedContent[]
    readonly structured?: Json
    readonly outputPath?: string
    /** Hosted tools: the provider's own result and its metadata, kept apart from the call's. */
    readonly result?: Json
    readonly metadata?: JsonObject
  }
  "session.next.tool.failed.1": {
    readonly assistantMessageID: MessageId
    readonly callID: string
    readonly error: RecordedError
    readonly result?: Json
    readonly metadata?: JsonObject
  }
  "session.next.repetition.noticed.1": {
    readonly assistantMessageID: MessageId
    readonly callID: string
    readonly tool: string
    readonly count: number
  }
  "session.next.todo.updated.1": { readonly items: readonly TodoItem[] }
  "session.next.permission.asked.1": {
    readonly requestID: PermissionRequestId
    readonly assistantMessageID: MessageId
    readonly callID: string
    readonly action: string
    readonly resources: readonly string[]
    readonly title: string
    /** Whose approvals an "always" joins. */
    readonly project?: string
    readonly always: readonly string[]
    readonly detail?: JsonObject
  }
  "session.next.permission.replied.1": {
    readonly requestID: PermissionRequestId
    readonly reply: PermissionReply
    readonly message?: string
    /** Answered while nobody waited: the call may be started again, it had not acted. */
    readonly parked: boolean
    /** "always": which approvals are saved, for which project. */
    readonly saved?: {
      readonly project: string
      readonly action: string
      readonly resources: readonly string[]
    }
  }
  /** A baseline comes into force: what the model is told first, and the values it was made from. */
  "session.next.epoch.started.1": {
    readonly baseline: string
    readonly snapshot: ContextSnapshot
    readonly cause: "first" | "compaction"
  }
  /** Context changed: one chronological message; the snapshot advances with it. */
  "session.next.context.updated.1": {
    readonly messageID: MessageId
    readonly text: string
    readonly changed: ContextSnapshot
    readonly removed: readonly string[]
  }
  /** A file of instructions found beside something that was read. */
  "session.next.instruction.discovered.1": { readonly path: string }
  /** Old tool results the model is not shown any more; they stay in the log. */
  "session.next.tool.pruned.1": {
    readonly calls: readonly { readonly assistantMessageID: MessageId; readonly callID: string }[]
    readonly tokens: number
  }
  "session.next.compaction.requested.1": Readonly<Record<string, never>>
  "session.next.compaction.started.1": {
    readonly compactionID: string
    readonly reason: CompactionReason
    readonly model: string
    /** Estimate of the request that led to it. */
    readonly tokens: number
  }
  "session.next.compaction.ended.2": {
    readonly compactionID: string
    readonly reason: CompactionReason
    /** By a model, or extracted from the log because no model could. */
    readonly method: "model" | "extract"
    readonly summary: string
    /** Newest part of what was replaced, word for word as far as it fits. */
    readonly recent: string
    /** Events this checkpoint stands for. */
    readonly range: { readonly from: number; readonly through: number }
    /** Messages at or before `range.through` that stay real messages. */
    readonly kept: readonly string[]
    readonly messages: number
    readonly tokens: { readonly before: number; readonly after: number }
    readonly usage: RecordedUsage
    readonly cost: number
    /** What the summary claimed a person said, and nobody had said. */
    readonly removedQuotes: readonly string[]
    /** Why the model's summary was not used. */
    readonly fallback?: string
    readonly facts?: readonly { readonly kind: string; readonly text: string; readonly source: string }[]
  }
  "session.next.compaction.failed.1": { readonly compactionID: string; readonly error: RecordedError }
  /** Goes back to an older checkpoint, or to the whole history. */
  "session.next.compaction.restored.1": { readonly compactionID?: string }
  /** The drain ended in a way no step can tell: a limit was reached, a model is missing, context is unavailable. */
  "session.next.execution.failed.1": { readonly error: RecordedError }
}

export type DurableType = keyof DurableEventData

/** What is appended. Passing a delta here is a type error, not a review comment. */
export type DurableEvent = {
  readonly [Type in DurableType]: { readonly type: Type; readonly data: DurableEventData[Type] }
}[DurableType]

/** What is read back. */
export type StoredEvent = DurableEvent & { readonly seq: number; readonly time: number }

/** A row this version cannot read: skipped, visibly. */
export interface UnknownEvent {
  readonly seq: number
  readonly time: number
  readonly type: "unknown"
  readonly data: { readonly storedType: string; readonly reason: "unknown-type" | "unreadable" }
}

/** Stands where a replay ended and live tailing begins. */
export interface SyncedMarker {
  readonly type: "synced"
  readonly data: { readonly after: number }
  readonly time: number
}

export interface LiveEventData {
  "text.delta": { readonly assistantMessageID: MessageId; readonly delta: string }
  "reasoning.delta": { readonly assistantMessageID: MessageId; readonly delta: string }
  "tool.input.delta": {
    readonly assistantMessageID: MessageId
    readonly callID: string
    readonly delta: string
  }
  "compaction.delta": { readonly compactionID: string; readonly delta: string }
}

export type LiveType = keyof LiveEventData

/** A fragment for connected readers: no seq, moves no cursor, gone after a reconnect. */
export type LiveEvent = {
  readonly [Type in LiveType]: { readonly type: Type; readonly data: LiveEventData[Type] }
}[LiveType]

/** Every stored type this version reads, each with the keys its data must have. */
const REQUIRED = {
  "session.next.created.1": ["sessionID", "location"],
  "session.next.agent.switched.1": ["agent"],
  "session.next.model.switched.1": ["model"],
  "session.next.moved.1": ["location"],
  "session.next.prompt.admitted.1": ["messageID", "prompt", "delivery", "resume"],
  "session.next.prompt.promoted.1": ["messageID", "admittedSeq"],
  "session.next.prompt.cancelled.1": ["messageID"],
  "session.next.prompted.1": ["messageID", "prompt"],
  "session.next.interrupt.requested.1": [],
  "session.next.step.started.1": ["assistantMessageID", "agent", "model"],
  "session.next.step.ended.2": ["assistantMessageID", "finish", "usage", "cost"],
  "session.next.step.failed.2": ["assistantMessageID", "error"],
  "session.next.retried.1": ["assistantMessageID", "attempt", "delayMs", "error"],
  "session.next.text.ended.1": ["assistantMessageID", "text"],
  "session.next.reasoning.ended.1": ["assistantMessageID", "text"],
  "session.next.tool.called.1": ["assistantMessageID", "callID", "tool"],
  "session.next.tool.resumed.1": ["assistantMessageID", "callID"],
  "session.next.tool.success.1": ["assistantMessageID", "callID", "content"],
  "session.next.tool.failed.1": ["assistantMessageID", "callID", "error"],
  "session.next.repetition.noticed.1": ["assistantMessageID", "callID", "tool", "count"],
  "session.next.todo.updated.1": ["items"],
  "session.next.permission.asked.1": ["requestID", "assistantMessageID", "callID", "action", "resources"],
  "session.next.permission.replied.1": ["requestID", "reply", "parked"],
  "session.next.epoch.started.1": ["baseline", "snapshot", "cause"],
  "session.next.context.updated.1": ["messageID", "text", "changed", "removed"],
  "session.next.instruction.discovered.1": ["path"],
  "session.next.tool.pruned.1": ["calls", "tokens"],
  "session.next.compaction.requested.1": [],
  "session.next.compaction.started.1": ["compactionID", "reason"],
  "session.next.compaction.ended.2": ["compactionID", "summary", "recent", "range", "kept", "tokens"],
  "session.next.compaction.failed.1": ["compactionID", "error"],
  "session.next.compaction.restored.1": [],
  "session.next.execution.failed.1": ["error"],
} as const satisfies { readonly [Type in DurableType]: readonly (keyof DurableEventData[Type])[] }

const isDurableType = (type: string): type is DurableType => Object.hasOwn(REQUIRED, type)

/** The codec of a stored row. Never throws: a row it cannot read comes back as unknown, with the reason. */
export const decodeEvent = (row: {
  readonly seq: number
  readonly time: number
  readonly type: string
  readonly data: string
}): StoredEvent | UnknownEvent => {
  const unknown = (reason: UnknownEvent["data"]["reason"]): UnknownEvent => ({
    seq: row.seq,
    time: row.time,
    type: "unknown",
    data: { storedType: row.type, reason },
  })
  if (!isDurableType(row.type)) return unknown("unknown-type")
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- this is the codec
    const data: unknown = JSON.parse(row.data)
    if (typeof data !== "object" || data === null) return unknown("unreadable")
    for (const key of REQUIRED[row.type]) if (!(key in data)) return unknown("unreadable")
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- type and required keys were checked above
    return { seq: row.seq, time: row.time, type: row.type, data } as StoredEvent
  } catch {
    return unknown("unreadable")
  }
}

/** Nothing we write has one between its keys; a frame of server-sent events would end there. */
const LINE_BREAK = /[\r\n]/

/** A stored row whose data SQLite has found to be JSON; `undefined` when it is not. */
export interface EventRow {
  readonly seq: number
  readonly time: number
  readonly type: string
  readonly data: string | undefined
}

/**
 * What `JSON.stringify(decodeEvent(row))` says, for those who only pass events on: what is stored is not read and written
 * again. Only a row that names a required key nowhere at all is looked at closely.
 */
export const eventText = ({ seq, time, type, data }: EventRow): string => {
  if (
    data?.startsWith("{") === true &&
    isDurableType(type) &&
    !LINE_BREAK.test(data) &&
    REQUIRED[type].every((key) => data.includes(`"${key}"`))
  )
    return `{"seq":${seq},"time":${time},"type":"${type}","data":${data}}`
  return JSON.stringify(decodeEvent({ seq, time, type, data: data ?? "" }))
}
