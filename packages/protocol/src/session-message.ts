/** The projected messages of a session, as readers get them. One assistant message is one provider turn. */
import type { Json, JsonObject } from "./json.ts"
import type {
  CompactionReason,
  Delivery,
  Prompt,
  RecordedContent,
  RecordedError,
  RecordedUsage,
} from "./session-event.ts"

export type ToolState =
  | { readonly status: "running" }
  /** Waits for an answer to a permission request. */
  | { readonly status: "waiting"; readonly requestID: string }
  | {
      readonly status: "completed"
      readonly content: readonly RecordedContent[]
      readonly structured?: Json
      readonly outputPath?: string
      readonly result?: Json
      readonly metadata?: JsonObject
    }
  | {
      readonly status: "error"
      readonly error: RecordedError
      readonly result?: Json
      readonly metadata?: JsonObject
    }

export type AssistantPart =
  | {
      readonly type: "text"
      readonly text: string
      readonly metadata?: JsonObject
      readonly partial?: boolean
    }
  | {
      readonly type: "reasoning"
      readonly text: string
      readonly metadata?: JsonObject
      readonly partial?: boolean
    }
  | {
      readonly type: "tool"
      readonly callID: string
      readonly tool: string
      readonly input?: Json
      readonly raw?: string
      readonly hosted?: boolean
      readonly metadata?: JsonObject
      readonly state: ToolState
    }

interface MessageBase {
  readonly id: string
  /** Sequence of the event that made the message visible: the order of messages. */
  readonly seq: number
  readonly time: number
}

export type SessionMessage =
  | (MessageBase & { readonly type: "user"; readonly text: string; readonly files?: Prompt["files"] })
  | (MessageBase & {
      readonly type: "assistant"
      readonly agent: string
      readonly model: string
      readonly content: readonly AssistantPart[]
      readonly finish?: string
      readonly usage?: RecordedUsage
      readonly cost?: number
      readonly error?: RecordedError
    })
  /** Context that changed while the session ran. */
  | (MessageBase & { readonly type: "system"; readonly text: string })
  | (MessageBase & {
      readonly type: "compaction"
      readonly reason: CompactionReason
      readonly summary: string
      readonly recent: string
    })
  | (MessageBase & { readonly type: "agent-switched"; readonly agent: string })
  | (MessageBase & { readonly type: "model-switched"; readonly model: string })

/** An admitted input, the answer to a prompt and to every exact retry of it. */
export interface Receipt {
  readonly id: string
  readonly sessionID: string
  readonly prompt: Prompt
  readonly delivery: Delivery
  readonly resume: boolean
  readonly admittedSeq: number
  readonly promotedSeq?: number
  readonly cancelledSeq?: number
  readonly time: number
}

/** What one compaction kept and dropped. */
export interface CompactionReceipt {
  readonly id: string
  readonly reason: CompactionReason
  readonly status: "started" | "ended" | "failed"
  readonly seq: number
  readonly time: number
  /** Whether its checkpoint is the one the model sees now. */
  readonly inForce: boolean
  readonly method?: "model" | "extract"
  readonly range?: { readonly from: number; readonly through: number }
  readonly tokens?: { readonly before: number; readonly after: number }
  /** Messages the summary stands for. */
  readonly messages?: number
  readonly kept?: readonly string[]
  readonly summary?: string
  readonly facts?: readonly { readonly kind: string; readonly text: string; readonly source: string }[]
  readonly removedQuotes?: readonly string[]
  readonly fallback?: string
  readonly usage?: RecordedUsage
  readonly cost?: number
  readonly error?: RecordedError
}
