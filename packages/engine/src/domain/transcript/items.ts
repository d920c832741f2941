/** What a conversation consists of, as a model sees it. Items are values: a change makes a new one. */
import type { Json, JsonObject, RecordedContent, RecordedError, RecordedPrompt } from "@meridian/protocol"

import { partCharacters } from "../prompt-parts.ts"

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
  readonly outcome?: ToolOutcome
  /** The model no longer sees the result; the log has it. */
  readonly pruned?: boolean
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
  readonly prompt: RecordedPrompt
}

/** Added by the program that embeds the engine. */
export interface SyntheticItem {
  readonly kind: "synthetic"
  readonly id: string
  readonly seq: number
  readonly text: string
}

export interface AssistantItem {
  readonly kind: "assistant"
  readonly id: string
  readonly seq: number
  readonly agent: string
  readonly model: string
  readonly parts: readonly (ProsePart | ToolPart)[]
  readonly ended: boolean
  /** The turn gave the requested value. */
  readonly answered?: true
  readonly error?: RecordedError
}

/** Context that changed while the session ran: one message at its place in time. */
export interface ContextItem {
  readonly kind: "context"
  readonly id: string
  readonly seq: number
  readonly text: string
}

/** Replaces everything that was compacted. */
export interface CheckpointItem {
  readonly kind: "checkpoint"
  readonly id: string
  readonly seq: number
  readonly summary: string
  readonly recent: string
  readonly range: { readonly from: number; readonly through: number }
}

export type Item = UserItem | SyntheticItem | AssistantItem | ContextItem | CheckpointItem

/** Only a new revision of the conversation can change it. */
export const isSettled = (item: Item): boolean =>
  item.kind !== "assistant" ||
  (item.ended && item.parts.every((part) => part.type !== "tool" || part.outcome !== undefined))

/** A rough count of the characters an item holds. */
export const weightOf = (item: Item): number => {
  switch (item.kind) {
    case "user":
      return item.prompt.text.length + partsWeight(item.prompt)
    case "synthetic":
    case "context":
      return item.text.length
    case "checkpoint":
      return item.summary.length + item.recent.length
    case "assistant":
      return item.parts.reduce((sum, part) => sum + partWeight(part), 0)
  }
}

const partsWeight = ({ parts = [] }: RecordedPrompt): number =>
  parts.reduce((sum, part) => sum + partCharacters(part), 0)

export const partWeight = (part: ProsePart | ToolPart): number => {
  if (part.type !== "tool") return part.text.length
  return 200 + (part.outcome?.kind === "success" ? contentWeight(part.outcome.content) : 100)
}

const contentWeight = (content: readonly RecordedContent[]): number =>
  content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : part.base64.length), 0)
