/**
 * What compatible servers need of a prompt: a tool's result must be text. Files in results (an image that was read) follow
 * in a user message, which these servers understand; as text they would be a megabyte of base64.
 */
import type { FilePart, PromptMessage, ToolResultPart } from "../domain/prompt.ts"
import { openSearch } from "./beginnings.ts"

type ShapePrompt = (prompt: readonly PromptMessage[]) => readonly PromptMessage[]

export const openCompatiblePrompt = (): ShapePrompt => {
  /** A message is split only once: what stays the same object is written only once (see `compatible-body.ts`). */
  const known = new WeakMap<ToolMessage, TakenApart>()
  const partsOf = (message: ToolMessage): TakenApart => {
    const parts = known.get(message) ?? takeApart(message)
    known.set(message, parts)
    return parts
  }
  const anyContent = openSearch(hasContent)
  return (prompt) => {
    if (!anyContent(prompt)) return prompt
    const shaped: PromptMessage[] = []
    const files: PromptMessage[] = []
    for (const message of prompt) {
      if (message.role !== "tool") {
        shaped.push(...files.splice(0), message)
        continue
      }
      if (!hasContent(message)) shaped.push(message)
      else {
        const taken = partsOf(message)
        shaped.push(taken.texts)
        files.push(taken.files)
      }
    }
    return [...shaped, ...files]
  }
}

interface TakenApart {
  readonly texts: PromptMessage
  readonly files: PromptMessage
}

const takeApart = (message: ToolMessage): TakenApart => ({
  texts: { ...message, content: message.content.map(asText) },
  files: {
    role: "user",
    content: [{ type: "text", text: "Files from the results above:" }, ...message.content.flatMap(filesOf)],
  },
})

type ToolMessage = Extract<PromptMessage, { readonly role: "tool" }>

const hasContent = (message: PromptMessage): boolean =>
  message.role === "tool" && message.content.some(({ output }) => output.type === "content")

const filesOf = ({ output }: ToolResultPart): readonly FilePart[] =>
  output.type === "content" ? output.value.filter((part) => part.type === "file") : []

const asText = (part: ToolResultPart): ToolResultPart => {
  if (part.output.type !== "content") return part
  const value = part.output.value
    .map((piece) => (piece.type === "text" ? piece.text : `[${piece.mediaType} file, shown below]`))
    .join("\n")
  return { ...part, output: { type: "text", value } }
}
