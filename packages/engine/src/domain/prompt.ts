/**
 * What a model sees, in the shape of the AI SDK's `LanguageModelV4Prompt`. It is spelled out here so that the domain needs
 * no package. A session's prompt is kept ready in memory and passed on unchanged: rebuilding it would make each turn of a
 * long session cost more.
 */
import type { Json, JsonObject } from "@meridian/protocol"

/**
 * Provider-native data (signatures, encrypted reasoning, item ids), stored verbatim and sent back only to the same model.
 */
export type ProviderMetadata = { readonly [provider: string]: JsonObject }

export interface TextPart {
  readonly type: "text"
  readonly text: string
  readonly providerOptions?: ProviderMetadata
}
/** Bytes as base64, or the text of a document. */
export type FileData =
  | { readonly type: "data"; readonly data: string }
  | { readonly type: "text"; readonly text: string }
export interface FilePart {
  readonly type: "file"
  readonly data: FileData
  readonly mediaType: string
  readonly filename?: string
  readonly providerOptions?: ProviderMetadata
}
export interface ReasoningPart {
  readonly type: "reasoning"
  readonly text: string
  readonly providerOptions?: ProviderMetadata
}
export interface ToolCallPart {
  readonly type: "tool-call"
  readonly toolCallId: string
  readonly toolName: string
  readonly input: Json
  readonly providerExecuted?: boolean
  readonly providerOptions?: ProviderMetadata
}
export type ToolResultOutput =
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "json"; readonly value: Json }
  | { readonly type: "error-text"; readonly value: string }
  | { readonly type: "error-json"; readonly value: Json }
  | { readonly type: "content"; readonly value: readonly (TextPart | FilePart)[] }
export interface ToolResultPart {
  readonly type: "tool-result"
  readonly toolCallId: string
  readonly toolName: string
  readonly output: ToolResultOutput
  readonly providerOptions?: ProviderMetadata
}

export type PromptMessage =
  | { readonly role: "system"; readonly content: string; readonly providerOptions?: ProviderMetadata }
  | { readonly role: "user"; readonly content: readonly (TextPart | FilePart)[] }
  | {
      readonly role: "assistant"
      readonly content: readonly (TextPart | FilePart | ReasoningPart | ToolCallPart | ToolResultPart)[]
    }
  | { readonly role: "tool"; readonly content: readonly ToolResultPart[] }
