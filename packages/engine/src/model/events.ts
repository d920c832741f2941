/**
 * Translates the AI SDK's stream parts into our events. One translator per turn, because it remembers what each block has
 * reported so far.
 */
import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider"

import type { FinishReason, ModelEvent, ProviderMetadata, Usage } from "../port/model.ts"

/** Undefined for parts we ignore: warnings, sources, response metadata, pings. */
export type Translate = (part: LanguageModelV4StreamPart) => ModelEvent | undefined

export const openTranslator = (): Translate => {
  /** Metadata of blocks that came before their end. */
  const known = new Map<string, ProviderMetadata>()

  /** Anthropic signs a block in a delta, Responses at its end. Our end event always carries both. */
  const remember = (id: string, metadata: ProviderMetadata | undefined): void => {
    if (metadata !== undefined) known.set(id, merge(known.get(id), metadata))
  }
  const recall = (id: string, metadata: ProviderMetadata | undefined): ProviderMetadata | undefined => {
    const before = known.get(id)
    known.delete(id)
    return metadata === undefined ? before : merge(before, metadata)
  }

  return (part) => {
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const metadata = nativeOf(part)
        remember(part.id, metadata)
        return { type: part.type, id: part.id, ...withMetadata(metadata) }
      }
      case "text-delta":
        remember(part.id, nativeOf(part))
        return { type: "text-delta", id: part.id, delta: part.delta }
      case "reasoning-delta": {
        const metadata = nativeOf(part)
        remember(part.id, metadata)
        return { type: "reasoning-delta", id: part.id, delta: part.delta, ...withMetadata(metadata) }
      }
      case "text-end":
      case "reasoning-end":
        return { type: part.type, id: part.id, ...withMetadata(recall(part.id, nativeOf(part))) }
      case "tool-input-start":
        return { type: "tool-input-start", id: part.id, name: part.toolName }
      case "tool-input-delta":
        return { type: "tool-input-delta", id: part.id, delta: part.delta }
      case "tool-input-end":
        return { type: "tool-input-end", id: part.id }
      case "tool-call":
        return {
          type: "tool-call",
          id: part.toolCallId,
          name: part.toolName,
          input: part.input,
          providerExecuted: part.providerExecuted === true,
          ...withMetadata(nativeOf(part)),
        }
      case "tool-result":
        if (part.preliminary === true) return undefined
        return {
          type: "tool-result",
          id: part.toolCallId,
          name: part.toolName,
          // eslint-disable-next-line typescript/no-unsafe-type-assertion -- JSON by the SDK's contract, parsed from the wire
          result: (part.result ?? null) as ResultOf,
          isError: part.isError === true,
          ...withMetadata(nativeOf(part)),
        }
      case "finish":
        return {
          type: "finish",
          reason: reasonOf(part.finishReason.unified),
          usage: usageOf(part.usage),
          ...withMetadata(nativeOf(part)),
        }
      case "stream-start":
      case "response-metadata":
      case "source":
      case "file":
      case "reasoning-file":
      case "custom":
      case "tool-approval-request":
      case "ping":
      case "raw":
      case "error":
        return undefined
    }
  }
}

type ResultOf = Extract<ModelEvent, { readonly type: "tool-result" }>["result"]

/** The stream stopped before the provider's own end. The SDK adds a finish in that case. */
export const isBrokenOff = (part: LanguageModelV4StreamPart): boolean =>
  part.type === "finish" && part.finishReason.unified === "interrupted"

/** Five counters that never overlap. A provider may omit any of them. */
export const usageOf = ({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage => {
  const cacheRead = count(inputTokens.cacheRead)
  const cacheWrite = count(inputTokens.cacheWrite)
  const reasoning = count(outputTokens.reasoning)
  return {
    input: count(inputTokens.noCache ?? count(inputTokens.total) - cacheRead - cacheWrite),
    output: count(outputTokens.text ?? count(outputTokens.total) - reasoning),
    reasoning,
    cacheRead,
    cacheWrite,
  }
}

const count = (value: number | undefined): number =>
  value !== undefined && Number.isFinite(value) && value > 0 ? value : 0

const reasonOf = (
  unified: Extract<LanguageModelV4StreamPart, { type: "finish" }>["finishReason"]["unified"],
): FinishReason => (unified === "interrupted" ? "error" : unified)

const nativeOf = (part: { readonly providerMetadata?: object }): ProviderMetadata | undefined =>
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- JSON by the SDK's contract, kept verbatim
  part.providerMetadata as ProviderMetadata | undefined

const withMetadata = (metadata: ProviderMetadata | undefined): { readonly metadata?: ProviderMetadata } =>
  metadata === undefined ? {} : { metadata }

/** Merges by provider; the later value wins. */
const merge = (before: ProviderMetadata | undefined, after: ProviderMetadata): ProviderMetadata => {
  if (before === undefined) return after
  const providers = Object.entries(after).map(([provider, values]) => {
    return [provider, { ...before[provider], ...values }] as const
  })
  return { ...before, ...Object.fromEntries(providers) }
}
