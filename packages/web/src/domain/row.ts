/** The rows of a timeline. A row is replaced, never changed, so a view recognises new ones by identity. */
import type {
  CompactionReason,
  Json,
  RecordedContent,
  RecordedError,
  RecordedUsage,
} from "@meridian/protocol"
import { aboutCall, plainText } from "@meridian/protocol"

import type { FileChange } from "./file-change.ts"

/** Text as the page keeps it; the log has the rest. */
export interface Clip {
  readonly text: string
  /** How many characters are left out. */
  readonly cut: number
}

interface RowBase {
  /** Unique in its session. */
  readonly key: string
  readonly seq: number
  readonly time: number
}

export interface UserRow extends RowBase {
  readonly kind: "user"
  readonly messageID: string
  readonly body: Clip
  readonly files: number
  readonly delivery?: "steer" | "queue"
}

export type TurnOutcome = "running" | "ended" | "failed" | "interrupted" | "crashed"

export interface TurnRow extends RowBase {
  readonly kind: "turn"
  readonly messageID: string
  /** From 1. */
  readonly turn: number
  readonly agent: string
  readonly model: string
  readonly outcome: TurnOutcome
  readonly retries: number
  readonly ended?: number
  readonly finish?: string
  readonly usage?: RecordedUsage
  readonly cost?: number
  readonly error?: RecordedError
  /** The model's context window in tokens, if the log has it. */
  readonly contextWindow?: number
}

export interface ProseRow extends RowBase {
  readonly kind: "text" | "reasoning"
  readonly messageID: string
  readonly body: Clip
  readonly partial: boolean
  /** Still being written: a fragment that is not in the log yet. */
  readonly live: boolean
}

export type ToolOutcome = "running" | "waiting" | "success" | "failed" | "interrupted" | "crashed"

export interface ToolRow extends RowBase {
  readonly kind: "tool"
  readonly messageID: string
  readonly callID: string
  readonly tool: string
  /** One line that summarises the input. */
  readonly summary: string
  readonly input: Clip
  /** What it changes in files. */
  readonly change?: FileChange
  /** The session that does its work. */
  readonly child?: { readonly sessionID: string; readonly agent: string; readonly status?: string }
  readonly outcome: ToolOutcome
  readonly hosted: boolean
  readonly ended?: number
  readonly output?: Clip
  readonly media: number
  readonly error?: RecordedError
  /** The model no longer sees the result. */
  readonly pruned: boolean
  readonly requestID?: string
}

export interface CompactionEnd {
  readonly method: "model" | "extract" | "extension"
  readonly summary: string
  readonly recent: string
  readonly range: { readonly from: number; readonly through: number }
  readonly kept: readonly string[]
  readonly messages: number
  readonly tokens: { readonly before: number; readonly after: number }
  readonly cost: number
  readonly usage: RecordedUsage
  readonly removedQuotes: readonly string[]
  readonly fallback?: string
  readonly facts: readonly { readonly kind: string; readonly text: string; readonly source: string }[]
}

export interface CompactionRow extends RowBase {
  readonly kind: "compaction"
  readonly compactionID: string
  readonly reason: CompactionReason
  readonly model: string
  readonly status: "started" | "ended" | "failed"
  readonly ended?: number
  readonly end?: CompactionEnd
  readonly error?: RecordedError
}

/** Anything else worth a line. `crash`: the process ended in the middle of work. */
export interface NoticeRow extends RowBase {
  readonly kind: "notice"
  readonly what: "crash" | "interrupt" | "context" | "failure" | "info"
  readonly text: string
  readonly detail?: Clip
  /** The checkpoint in force from here on; empty for none. */
  readonly restores?: string
  /** Its detail is what the model is told before anything else, from here on. */
  readonly isBaseline?: true
}

export type Row = UserRow | TurnRow | ProseRow | ToolRow | CompactionRow | NoticeRow

/** The whole text is requested when a person wants to read it. Ten thousand whole texts would fill a phone. */
export const MOST_CHARACTERS = 8_000

export const clip = (text: string, most = MOST_CHARACTERS): Clip =>
  text.length <= most
    ? { text: plainText(text), cut: 0 }
    : { text: plainText(text.slice(0, most)), cut: text.length - most }

export const textOfContent = (content: readonly RecordedContent[]): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")

/** The complete input of a tool call. */
export const textOfInput = (input: Json | undefined, raw: string | undefined): string =>
  input === undefined ? (raw ?? "") : typeof input === "string" ? input : JSON.stringify(input, null, 2)

const MOST_SUMMARY = 200

/** One line that summarises the input of a tool call. */
export const summaryOfInput = (input: Json | undefined, raw: string | undefined): string => {
  const text =
    (typeof input === "string" ? input : aboutCall(input)) ??
    (input === undefined ? (raw ?? "") : JSON.stringify(input))
  return plainText(text.slice(0, MOST_SUMMARY))
}
