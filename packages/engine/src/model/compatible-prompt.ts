/**
 * What compatible servers need of a prompt: the result of a tool is a text to them. Files in results (an image that was
 * read) follow in a message of the user, which they do understand; as text they would be a megabyte of base64.
 */
import type { FilePart, PromptMessage, ToolResultPart } from "../domain/prompt.ts"

export const shapeForCompatible = (prompt: readonly PromptMessage[]): readonly PromptMessage[] => {
  if (!prompt.some(hasContent)) return prompt
  const shaped: PromptMessage[] = []
  let files: FilePart[] = []
  const giveFiles = (): void => {
    if (files.length > 0)
      shaped.push({
        role: "user",
        content: [{ type: "text", text: "Files from the results above:" }, ...files],
      })
    files = []
  }
  for (const message of prompt) {
    if (message.role !== "tool") {
      giveFiles()
      shaped.push(message)
      continue
    }
    files.push(...message.content.flatMap(filesOf))
    shaped.push(hasContent(message) ? { ...message, content: message.content.map(asText) } : message)
  }
  giveFiles()
  return shaped
}

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
