/**
 * What a model is shown, in the shape of the AI SDK's `LanguageModelV4Prompt`, spelled out here so that the domain needs
 * no package: a session's prompt is kept ready in memory and handed over as it is, because rebuilding it every turn would
 * make a turn cost more the longer the session is.
 */
import type { Json, JsonObject } from "@meridian/protocol"

/** Provider-native data, stored verbatim and sent back only to the same model (signatures, encrypted reasoning, item ids). */
export type ProviderMetadata = { readonly [provider: string]: JsonObject }

export interface TextPart {
  readonly type: "text"
  readonly text: string
  readonly providerOptions?: ProviderMetadata
}
/** Bytes as base64, or a text document as it is. */
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
