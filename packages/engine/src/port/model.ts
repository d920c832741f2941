/** What a model is to the engine: one request in, one stream of events out, one kind of failure. */
import type { Json, JsonObject, RequestSettings } from "@meridian/protocol"

import type { ModelFamily } from "../domain/base-instructions.ts"
import type { ModelPrice } from "../domain/cost.ts"
import type { PromptMessage, ProviderMetadata } from "../domain/prompt.ts"

export type { ModelPrice } from "../domain/cost.ts"
export type { PromptMessage, ProviderMetadata } from "../domain/prompt.ts"

export interface ToolAdvertisement {
  readonly name: string
  readonly description: string
  /** The JSON Schema of the input, always an object schema. */
  readonly input: JsonObject
}

export interface ModelRequest {
  readonly prompt: readonly PromptMessage[]
  readonly tools: readonly ToolAdvertisement[]
  /** Which of the model's hosted tools to offer. */
  readonly hosted?: readonly string[]
  /** Missing settings are left to the provider. The model bounds the output in any case. */
  readonly settings?: RequestSettings
  /** Stable per session: prompt-cache key and affinity header. */
  readonly sessionID: string
  /** Headers for this request, in addition to the headers of every request to the model. */
  readonly headers?: Readonly<Record<string, string>>
  /** The model must call one of the tools. */
  readonly mustCall?: true
  /** The JSON Schema of the answer, for a model that has its own mode for this. */
  readonly answer?: JsonObject
  /** This many messages at the end belong to this request alone. Nothing after their start is worth caching. */
  readonly passing?: number
}

/** Tokens of one turn; the five never overlap. */
export interface Usage {
  readonly input: number
  readonly output: number
  readonly reasoning: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export type FinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other"

export type ModelEvent =
  | { readonly type: "text-start"; readonly id: string; readonly metadata?: ProviderMetadata }
  | { readonly type: "text-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "text-end"; readonly id: string; readonly metadata?: ProviderMetadata }
  | { readonly type: "reasoning-start"; readonly id: string; readonly metadata?: ProviderMetadata }
  | {
      readonly type: "reasoning-delta"
      readonly id: string
      readonly delta: string
      readonly metadata?: ProviderMetadata
    }
  | { readonly type: "reasoning-end"; readonly id: string; readonly metadata?: ProviderMetadata }
  | { readonly type: "tool-input-start"; readonly id: string; readonly name: string }
  | { readonly type: "tool-input-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "tool-input-end"; readonly id: string }
  | {
      readonly type: "tool-call"
      readonly id: string
      readonly name: string
      /** The raw text the model wrote. It may not be JSON; the runner handles that. */
      readonly input: string
      readonly providerExecuted: boolean
      readonly metadata?: ProviderMetadata
    }
  | {
      readonly type: "tool-result"
      readonly id: string
      readonly name: string
      readonly result: Json
      readonly isError: boolean
      readonly metadata?: ProviderMetadata
    }
  | {
      readonly type: "finish"
      readonly reason: FinishReason
      readonly usage: Usage
      readonly metadata?: ProviderMetadata
    }

/** Closed set; each kind says what may be done about it. */
export type ModelFailureKind =
  | "overflow" // the request does not fit the window: compact, do not repeat
  | "rate" // 429: wait and repeat
  | "overloaded" // 5xx and 529: repeat
  | "transport" // no connection, or it broke: repeat while nothing was visible
  | "authentication"
  | "content" // refused by policy
  | "invalid-request"
  | "invalid-output" // the stream broke its own contract (ended without a finish, unreadable data)
  | "unknown"

export interface ModelFailureFacts {
  readonly kind: ModelFailureKind
  /** One line, without keys or headers; at most 2,000 characters. */
  readonly message: string
  readonly status?: number
  readonly retryAfterMs?: number
}

export const isRetryable = (kind: ModelFailureKind): boolean =>
  kind === "rate" || kind === "overloaded" || kind === "transport"

/** The only error a model's stream throws, apart from the reason of the caller's abort signal. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure"
  readonly facts: ModelFailureFacts

  constructor(facts: ModelFailureFacts, options?: ErrorOptions) {
    super(facts.message, options)
    this.facts = facts
  }
}

/**
 * The events of one call. Most arrive several at a time, and one promise per event would cost more than the event. Measured
 * without `ready`: a tool turn takes 5 % longer, 64 sessions 12 % (docs/measured.md).
 */
export interface ModelEvents extends AsyncIterator<ModelEvent, unknown> {
  /**
   * The next event, if it has already arrived. Undefined says nothing about the stream: only `next` waits, ends and fails.
   */
  readonly ready?: () => ModelEvent | undefined
}

export interface ModelStream extends AsyncIterable<ModelEvent, unknown> {
  readonly [Symbol.asyncIterator]: () => ModelEvents
}

export interface Model {
  /** Our name for the model, `provider/model`. Native metadata is replayed only to the model with the same id. */
  readonly id: string
  readonly contextWindow: number
  readonly maxOutput: number
  readonly price?: ModelPrice
  /** Named settings: `provider/model:name`. */
  readonly variants?: ReadonlyMap<string, RequestSettings>
  /** The family that made the model, whichever provider serves it. It selects the base instructions. */
  readonly family: ModelFamily
  /** Tools that the provider runs itself and that the configuration asks for. */
  readonly hosted?: readonly string[]
  /** The model accepts a schema for its answer. */
  readonly answersBySchema: boolean
  /** False: a system message is allowed only at the beginning. */
  readonly systemInHistory: boolean
  /**
   * Makes one provider call and never retries. Ends normally only after a `finish` event; throws ModelFailure otherwise.
   * After `signal` aborts, the stream ends promptly and the connection is closed.
   */
  readonly stream: (request: ModelRequest, signal: AbortSignal) => ModelStream
}
