/**
 * Turns the chunks of a Chat Completions stream into the AI SDK's stream parts, with the tolerance that compatible servers
 * need: reasoning under two names, content in parts, refusals, tool calls whose name, index or id comes late or never. The
 * SDK does the same with four piped streams, which cost more than the rest of the turn (docs/decisions has the figures).
 * `compatible-model.test.ts` compares the two.
 */
import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider"
import type { StreamingToolCallDelta } from "@ai-sdk/provider-utils"
import { isJsonObject, type JsonObject } from "@meridian/protocol"

/**
 * Assembles tool calls from their pieces. This is the SDK's own tracker, so odd servers are read the same way everywhere.
 */
export interface ToolCallTracker {
  readonly processDelta: (delta: ToolCallDelta) => void
  readonly flush: () => void
}

export interface ToolCallDelta extends StreamingToolCallDelta {
  readonly thoughtSignature?: string
}

export interface ChunkReader {
  readonly chunk: (value: unknown) => void
  readonly end: () => void
}

export interface ChunkReaderOptions {
  readonly enqueue: (part: LanguageModelV4StreamPart) => void
  readonly tracker: ToolCallTracker
  readonly providerName: string
}

const TEXT = "txt-0"
const REASONING = "reasoning-0"

export const openChunkReader = ({ enqueue, tracker, providerName }: ChunkReaderOptions): ChunkReader => {
  const tools = holdNameless(tracker)
  let open: "text" | "reasoning" | undefined
  let usage: unknown
  let finish: string | undefined
  let refused = false
  let failed = false

  const close = (): void => {
    if (open !== undefined) enqueue({ type: `${open}-end`, id: open === "text" ? TEXT : REASONING })
    open = undefined
  }
  const write = (kind: "text" | "reasoning", delta: string): void => {
    const id = kind === "text" ? TEXT : REASONING
    if (open !== kind) {
      close()
      enqueue({ type: `${kind}-start`, id })
      open = kind
    }
    enqueue({ type: `${kind}-delta`, id, delta })
  }
  const fail = (error: unknown): void => {
    failed = true
    enqueue({ type: "error", error })
  }

  const readDelta = (delta: JsonObject): void => {
    const reasoning = textOf(delta["reasoning_content"]) || textOf(delta["reasoning"])
    if (reasoning !== "") write("reasoning", reasoning)
    const { content } = delta
    if (typeof content === "string") {
      if (content !== "") write("text", content)
    } else if (Array.isArray(content))
      for (const piece of content.filter(isJsonObject)) readPiece(piece, write)
    const refusal = textOf(delta["refusal"])
    if (refusal !== "") {
      refused = true
      write("text", refusal)
    }
    const calls = delta["tool_calls"]
    if (!Array.isArray(calls) || calls.length === 0) return
    // The SDK leaves text open until the end. Recorded in the order of their ends, the text would then follow its calls.
    close()
    for (const call of calls.filter(isJsonObject)) tools.processDelta(readCall(call))
  }

  return {
    chunk: (value) => {
      if (!isJsonObject(value)) return fail(unreadable("A chunk of the stream is not an object"))
      if (value["error"] !== undefined && value["error"] !== null) return fail(value["error"])
      if (value["object"] === "error") return fail(value)
      if (!Array.isArray(value["choices"])) return fail(unreadable("A chunk of the stream has no choices"))
      usage = value["usage"] ?? usage
      const choice: unknown = value["choices"][0]
      if (!isJsonObject(choice)) return
      if (typeof choice["finish_reason"] === "string") finish = choice["finish_reason"]
      if (isJsonObject(choice["delta"])) readDelta(choice["delta"])
    },
    end: () => {
      close()
      tools.flush()
      if (finish === undefined && !failed) fail(unreadable("Response stream ended without a finish reason"))
      const finishReason: LanguageModelV4FinishReason =
        finish === undefined
          ? { unified: "error", raw: undefined }
          : { unified: unify(finish, refused), raw: finish }
      enqueue({
        type: "finish",
        finishReason,
        usage: readUsage(usage),
        providerMetadata: { [providerName]: {} },
      })
    },
  }
}

/** Metadata of a finished call, as the SDK's prompt converter reads it back. */
export const signatureMetadata = (
  providerName: string,
  delta: ToolCallDelta,
): SharedV4ProviderMetadata | undefined =>
  delta.thoughtSignature === undefined
    ? undefined
    : { [providerName]: { thoughtSignature: delta.thoughtSignature } }

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

const readPiece = (piece: JsonObject, write: (kind: "text" | "reasoning", delta: string) => void): void => {
  if (piece["type"] === "text") {
    const text = textOf(piece["text"])
    if (text !== "") write("text", text)
    return
  }
  if (piece["type"] !== "thinking" || !Array.isArray(piece["thinking"])) return
  const thought = piece["thinking"]
    .filter(isJsonObject)
    .map((part) => (part["type"] === "text" ? textOf(part["text"]) : ""))
    .join("")
  if (thought !== "") write("reasoning", thought)
}

const readCall = (call: JsonObject): ToolCallDelta => {
  const { index, id } = call
  const named = isJsonObject(call["function"]) ? call["function"] : {}
  const extra = isJsonObject(call["extra_content"]) ? call["extra_content"]["google"] : undefined
  const signature = isJsonObject(extra) ? textOf(extra["thought_signature"]) : ""
  return {
    index: typeof index === "number" ? index : null,
    id: typeof id === "string" ? id : null,
    function: {
      name: typeof named["name"] === "string" ? named["name"] : null,
      arguments: typeof named["arguments"] === "string" ? named["arguments"] : null,
    },
    ...(signature === "" ? {} : { thoughtSignature: signature }),
  }
}

/** Some servers send pieces of a call before its name. Those pieces wait for the name. */
const holdNameless = (tracker: ToolCallTracker): ToolCallTracker => {
  const waiting = new Map<number, ToolCallDelta>()
  const named = new Set<number>()
  return {
    processDelta: (delta) => {
      const { index } = delta
      if (index === null || index === undefined || named.has(index)) return tracker.processDelta(delta)
      const whole = join(waiting.get(index), delta)
      if (whole.function?.name === null || whole.function?.name === undefined) {
        waiting.set(index, whole)
        return
      }
      waiting.delete(index)
      named.add(index)
      tracker.processDelta(whole)
    },
    flush: () => {
      for (const delta of waiting.values()) tracker.processDelta(delta)
      tracker.flush()
    },
  }
}

const join = (before: ToolCallDelta | undefined, after: ToolCallDelta): ToolCallDelta => {
  if (before === undefined) return after
  const signature = before.thoughtSignature ?? after.thoughtSignature
  return {
    index: after.index ?? null,
    id: before.id ?? after.id ?? null,
    function: {
      name: after.function?.name ?? null,
      arguments: `${before.function?.arguments ?? ""}${after.function?.arguments ?? ""}`,
    },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  }
}

const unify = (finish: string, refused: boolean): LanguageModelV4FinishReason["unified"] => {
  switch (finish) {
    case "stop":
      return refused ? "content-filter" : "stop"
    case "length":
      return "length"
    case "content_filter":
      return "content-filter"
    case "tool_calls":
    case "function_call":
      return "tool-calls"
    default:
      return "other"
  }
}

const countOf = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0)

const readUsage = (usage: unknown): LanguageModelV4Usage => {
  const given = isJsonObject(usage) ? usage : {}
  const prompt = isJsonObject(given["prompt_tokens_details"]) ? given["prompt_tokens_details"] : {}
  const completion = isJsonObject(given["completion_tokens_details"])
    ? given["completion_tokens_details"]
    : {}
  const total = countOf(given["prompt_tokens"])
  const output = countOf(given["completion_tokens"])
  const cacheRead = countOf(prompt["cached_tokens"])
  const reasoning = countOf(completion["reasoning_tokens"])
  return {
    inputTokens: { total, noCache: Math.max(0, total - cacheRead), cacheRead, cacheWrite: undefined },
    outputTokens: { total: output, text: Math.max(0, output - reasoning), reasoning },
  }
}

const unreadable = (message: string): Error =>
  Object.assign(new Error(message), { name: "AI_InvalidResponseDataError" })
