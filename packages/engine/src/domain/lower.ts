/**
 * From history to the prompt a model is sent. Native metadata (signatures, encrypted reasoning, item ids) goes back only
 * to the model that made it, and only from a turn that ended well; for another model visible reasoning is ordinary text.
 */
import type { PromptFile, RecordedContent } from "@meridian/protocol"

import type {
  FilePart,
  PromptMessage,
  ProviderMetadata,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultOutput,
  ToolResultPart,
} from "./prompt.ts"
import type { AssistantItem, Item, ToolPart, UserItem } from "./transcript.ts"

type AssistantContent = TextPart | ReasoningPart | ToolCallPart | ToolResultPart

/** Keeps what was lowered once: a finished item never changes, so a turn costs only what is new. */
export interface Lowering {
  readonly prompt: (items: readonly Item[], model: string) => PromptMessage[]
}

export const createLowering = (): Lowering => {
  let cached = new Map<Item, readonly PromptMessage[]>()
  let cachedFor: string | undefined
  const prompt = (items: readonly Item[], model: string): PromptMessage[] => {
    if (cachedFor !== model) {
      cached = new Map()
      cachedFor = model
    }
    const messages: PromptMessage[] = []
    for (const item of items) {
      const known = cached.get(item)
      const lowered = known ?? lowerItem(item, model)
      if (known === undefined && isFinished(item)) cached.set(item, lowered)
      for (const message of lowered) messages.push(message)
    }
    return messages
  }
  return { prompt }
}

export const lowerItem = (item: Item, model: string): readonly PromptMessage[] =>
  item.kind === "user" ? [lowerUser(item)] : lowerAssistant(item, model)

const isFinished = (item: Item): boolean =>
  item.kind === "user" ||
  (item.ended && item.parts.every((part) => part.type !== "tool" || part.outcome !== undefined))

const lowerUser = (item: UserItem): PromptMessage => ({
  role: "user",
  content: [{ type: "text", text: item.prompt.text }, ...(item.prompt.files ?? []).map(lowerFile)],
})

const lowerFile = ({ base64, mediaType, name }: PromptFile): FilePart => ({
  type: "file",
  data: { type: "data", data: base64 },
  mediaType,
  ...(name === undefined ? {} : { filename: name }),
})

const lowerAssistant = (item: AssistantItem, model: string): readonly PromptMessage[] => {
  const native = item.model === model && item.error === undefined
  const content: AssistantContent[] = []
  const results: ToolResultPart[] = []
  for (const part of item.parts) {
    if (part.type === "tool") lowerTool(part, native, content, results)
    else if (part.type === "reasoning" && native)
      content.push({ type: "reasoning", text: part.text, ...options(part.metadata) })
    else if (part.text !== "")
      content.push({ type: "text", text: part.text, ...(native ? options(part.metadata) : {}) })
  }
  if (content.length === 0) return []
  const assistant: PromptMessage = { role: "assistant", content }
  return results.length === 0 ? [assistant] : [assistant, { role: "tool", content: results }]
}

const lowerTool = (
  part: ToolPart,
  native: boolean,
  content: AssistantContent[],
  results: ToolResultPart[],
): void => {
  if (part.hosted && !native) {
    content.push({ type: "text", text: describeHosted(part) })
    return
  }
  content.push({
    type: "tool-call",
    toolCallId: part.callID,
    toolName: part.tool,
    // A provider refuses a call whose input is no object; the error result says what the model really wrote.
    input: part.input ?? {},
    ...(part.hosted ? { providerExecuted: true } : {}),
    ...(native ? options(part.metadata) : {}),
  })
  const result: ToolResultPart = {
    type: "tool-result",
    toolCallId: part.callID,
    toolName: part.tool,
    output: outputOf(part),
    ...(native ? options(part.outcome?.metadata) : {}),
  }
  if (part.hosted) content.push(result)
  else results.push(result)
}

const INTERRUPTED = "Tool execution interrupted"

const outputOf = (part: ToolPart): ToolResultOutput => {
  const { outcome } = part
  if (outcome === undefined) return { type: "error-text", value: INTERRUPTED }
  if (outcome.kind === "failed")
    return part.hosted && outcome.result !== undefined
      ? { type: "error-json", value: outcome.result }
      : { type: "error-text", value: outcome.error.message }
  if (part.hosted && outcome.result !== undefined) return { type: "json", value: outcome.result }
  if (outcome.content.every((entry) => entry.type === "text"))
    return { type: "text", value: textOf(outcome.content) }
  return {
    type: "content",
    value: outcome.content.map((entry) =>
      entry.type === "text"
        ? { type: "text", text: entry.text }
        : { type: "file", data: { type: "data", data: entry.base64 }, mediaType: entry.mediaType },
    ),
  }
}

const textOf = (content: readonly RecordedContent[]): string =>
  content.map((entry) => (entry.type === "text" ? entry.text : "")).join("\n")

const describeHosted = (part: ToolPart): string => {
  const result = part.outcome?.result ?? (part.outcome?.kind === "failed" ? part.outcome.error.message : "")
  return `[${part.tool} ran with ${JSON.stringify(part.input ?? {})} and returned ${JSON.stringify(result)}]`
}

const options = (metadata: unknown): { providerOptions?: ProviderMetadata } =>
  isProviderMetadata(metadata) ? { providerOptions: metadata } : {}

const isProviderMetadata = (metadata: unknown): metadata is ProviderMetadata =>
  typeof metadata === "object" && metadata !== null
