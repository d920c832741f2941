/**
 * History as plain text: what a summariser reads, and what a checkpoint keeps verbatim. Only we write labels at the start
 * of a line: the words of a tool, a model or a file are quoted or made inert.
 */
import { plainName, quoted, unlabelled } from "./inert-text.ts"
import { withoutNative } from "./native-data.ts"
import { promptText } from "./prompt-parts.ts"
import type { AssistantItem, Item, ToolPart } from "./transcript/items.ts"

const TOOL_TEXT = 2_000

export const serializeItem = (item: Item): string => {
  switch (item.kind) {
    case "user":
      return [
        `[${item.prompt.from === undefined ? "User" : "Program"}]: ${unlabelled(promptText(item.prompt))}`,
        ...(item.prompt.parts ?? []).map((part) => `[Attached ${plainName(part.source)}]`),
        ...(item.prompt.files ?? []).map(
          (file) => `[Attached ${plainName(file.mediaType)}: ${plainName(file.name ?? "file")}]`,
        ),
      ].join("\n")
    case "synthetic":
      return `[Program]: ${unlabelled(item.text)}`
    case "context":
      return `[System update]: ${unlabelled(item.text)}`
    case "checkpoint":
      return ""
    case "assistant":
      return serializeAssistant(item)
  }
}

const serializeAssistant = (item: AssistantItem): string =>
  item.parts
    .map((part) => {
      if (part.type === "tool") return serializeTool(part)
      if (part.text === "") return ""
      return part.type === "text"
        ? `[Assistant]: ${unlabelled(part.text)}`
        : `[Assistant reasoning]: ${unlabelled(cut(part.text, TOOL_TEXT))}`
    })
    .filter((text) => text !== "")
    .join("\n")

const serializeTool = (part: ToolPart): string => {
  const input = cut(JSON.stringify(part.input ?? part.raw ?? {}), TOOL_TEXT)
  const call = `[Tool call]: ${plainName(part.tool)}\n${quoted(input)}`
  if (part.outcome === undefined) return call
  if (part.outcome.kind === "failed")
    return `${call}\n[Tool error]:\n${quoted(cut(part.outcome.error.message, TOOL_TEXT))}`
  const text = part.outcome.content
    .map((entry) => (entry.type === "text" ? entry.text : `[${entry.mediaType}]`))
    .join("\n")
  const result =
    part.outcome.result === undefined ? text : `${text}${JSON.stringify(withoutNative(part.outcome.result))}`
  return `${call}\n[Tool result]:\n${quoted(cut(result, TOOL_TEXT))}`
}

/** Keeps head and tail: the last output of a command is often what matters. */
const cut = (text: string, most: number): string =>
  text.length <= most
    ? text
    : `${text.slice(0, Math.floor(most * 0.6))}\n[... ${text.length - most} characters ...]\n${text.slice(-Math.floor(most * 0.4))}`
