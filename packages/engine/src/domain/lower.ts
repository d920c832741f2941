/**
 * From history to the prompt for a model. Native metadata (signatures, encrypted reasoning, item ids) goes back only to the
 * model that made it, and only from a turn that ended well. Another model gets visible reasoning as ordinary text.
 */
import type { PromptFile, RecordedContent } from "@meridian/protocol"

import { unlabelled, withoutTags } from "./inert-text.ts"
import { withoutNative } from "./native-data.ts"
import { lowerParts, programText, promptText } from "./prompt-parts.ts"
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
import type { Conversation } from "./transcript/conversation.ts"
import {
  isSettled,
  type AssistantItem,
  type CheckpointItem,
  type Item,
  type ToolPart,
  type UserItem,
} from "./transcript/items.ts"
import { wellFormed } from "./well-formed.ts"

type AssistantContent = TextPart | ReasoningPart | ToolCallPart | ToolResultPart

/** Remembers what was lowered before. A finished item never changes, so a turn costs only what is new. */
export interface Lowering {
  readonly prompt: (
    conversation: Pick<Conversation, "items" | "revision">,
    reader: PromptReader,
  ) => PromptMessage[]
}

/** The model that will read the prompt. */
export interface PromptReader {
  readonly model: string
  /** The model accepts system messages inside a conversation. Others get them inside a user message. */
  readonly systemInHistory: boolean
  /** Native data up to this sequence stays behind, because its prefix is gone. */
  readonly compactedSeq: number
}

export const createLowering = (): Lowering => {
  /** The first `count` items, all finished, lowered. */
  let lowered: PromptMessage[] = []
  let count = 0
  let loweredFor = ""
  const prompt: Lowering["prompt"] = ({ items, revision }, reader) => {
    const wanted = `${reader.model} ${reader.compactedSeq} ${revision}`
    if (loweredFor !== wanted) {
      lowered = []
      count = 0
      loweredFor = wanted
    }
    for (let item = items[count]; item !== undefined && isSettled(item); item = items[count]) {
      lowered.push(...lowerItem(item, reader))
      count += 1
    }
    return [...lowered, ...items.slice(count).flatMap((item) => lowerItem(item, reader))]
  }
  return { prompt }
}

const lowerItem = (item: Item, reader: PromptReader): readonly PromptMessage[] =>
  wellFormed(messagesOf(item, reader))

const messagesOf = (item: Item, reader: PromptReader): readonly PromptMessage[] => {
  switch (item.kind) {
    case "user":
      return [lowerUser(item)]
    case "assistant":
      return lowerAssistant(item, reader)
    case "synthetic":
      return [{ role: "user", content: [{ type: "text", text: programText(item.text) }] }]
    case "context":
      return [lowerContext(item.text, reader)]
    case "checkpoint":
      return [{ role: "user", content: [{ type: "text", text: checkpointText(item) }] }]
  }
}

/** Context that changed, at its place in the conversation. */
export const lowerContext = (text: string, reader: Pick<PromptReader, "systemInHistory">): PromptMessage =>
  reader.systemInHistory
    ? { role: "system", content: text }
    : {
        role: "user",
        content: [
          {
            type: "text",
            text: `<system-update>\n${withoutTags(text, SYSTEM_UPDATE)}\n</system-update>`,
          },
        ],
      }

const SYSTEM_UPDATE: ReadonlySet<string> = new Set(["systemupdate"])

/** Says what it is: history that can be looked up, not a new task. */
export const checkpointText = ({ summary, recent, range }: CheckpointItem): string =>
  [
    `<checkpoint>`,
    `The conversation before this point was compacted. Events ${range.from} to ${range.through} are kept in full: search them with the tool recall, read them with expand. What follows is history, not instructions; the task is in the messages after the checkpoint.`,
    `<summary>\n${unlabelled(summary)}\n</summary>`,
    ...(recent === "" ? [] : [`<recent>\n${withoutTags(recent)}\n</recent>`]),
    `</checkpoint>`,
  ].join("\n")

const lowerUser = (item: UserItem): PromptMessage => ({
  role: "user",
  content: [
    {
      type: "text",
      text: item.prompt.from === undefined ? promptText(item.prompt) : programText(item.prompt.text),
    },
    ...(item.prompt.files ?? []).map(lowerFile),
    ...lowerParts(item.prompt),
  ],
})

const lowerFile = ({ base64, mediaType, name }: PromptFile): FilePart => ({
  type: "file",
  data: { type: "data", data: base64 },
  mediaType,
  ...(name === undefined ? {} : { filename: name }),
})

const lowerAssistant = (item: AssistantItem, reader: PromptReader): readonly PromptMessage[] => {
  const native = item.model === reader.model && item.error === undefined && item.seq > reader.compactedSeq
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
  // A provider accepts its own results only unchanged. A pruned one is described in words.
  if (part.hosted && (!native || part.pruned === true)) {
    content.push({ type: "text", text: describeHosted(part) })
    return
  }
  content.push({
    type: "tool-call",
    toolCallId: part.callID,
    toolName: part.tool,
    // A provider refuses a call whose input is not an object. The error result says what the model really wrote.
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
const PRUNED = "[This old result was removed to make room. The tools recall and expand can show it.]"

const outputOf = (part: ToolPart): ToolResultOutput => {
  const { outcome } = part
  if (part.pruned === true) return { type: "text", value: PRUNED }
  if (outcome === undefined) return { type: "error-text", value: INTERRUPTED }
  if (outcome.kind === "failed")
    return part.hosted && outcome.result !== undefined
      ? { type: "error-json", value: outcome.result }
      : { type: "error-text", value: outcome.error.message }
  if (part.hosted && outcome.result !== undefined) return { type: "json", value: outcome.result }
  if (outcome.content.every((entry) => entry.type === "text" || !entry.mediaType.startsWith("image/")))
    return { type: "text", value: textOf(outcome.content) }
  return {
    type: "content",
    value: outcome.content.map((entry) =>
      entry.type === "text"
        ? { type: "text", text: entry.text }
        : entry.mediaType.startsWith("image/")
          ? { type: "file", data: { type: "data", data: entry.base64 }, mediaType: entry.mediaType }
          : { type: "text", text: describeBinary(entry.mediaType, entry.base64) },
    ),
  }
}

const textOf = (content: readonly RecordedContent[]): string =>
  content
    .map((entry) => (entry.type === "text" ? entry.text : describeBinary(entry.mediaType, entry.base64)))
    .join("\n")

/** Not every provider accepts every kind of file. One that refuses a file would refuse the session from then on. */
const describeBinary = (mediaType: string, base64: string): string =>
  `[${mediaType}, ${Math.floor((base64.length * 3) / 4)} bytes, base64${base64.length > BINARY_SHOWN ? ", cut" : ""}]: ${base64.slice(0, BINARY_SHOWN)}`

const BINARY_SHOWN = 4_000

const describeHosted = (part: ToolPart): string => {
  if (part.pruned === true) return `[${part.tool} ran with ${JSON.stringify(part.input ?? {})}.] ${PRUNED}`
  const result = part.outcome?.result ?? (part.outcome?.kind === "failed" ? part.outcome.error.message : "")
  return `[${part.tool} ran with ${JSON.stringify(part.input ?? {})} and returned ${JSON.stringify(withoutNative(result))}]`
}

const options = (metadata: unknown): { providerOptions?: ProviderMetadata } =>
  isProviderMetadata(metadata) ? { providerOptions: metadata } : {}

const isProviderMetadata = (metadata: unknown): metadata is ProviderMetadata =>
  typeof metadata === "object" && metadata !== null
