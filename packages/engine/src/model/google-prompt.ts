/**
 * What Gemini needs of a prompt beyond its shape: system messages only at the start (like Anthropic), no message without
 * content, which it refuses, and exactly one answer per call. The session shares the prompt, so it is never changed.
 */
import type { ToolResultPart } from "../domain/prompt.ts"
import type { PromptMessage } from "../port/model.ts"
import { withSystemFirst } from "./system-first.ts"

export const shapeForGoogle = (prompt: readonly PromptMessage[]): readonly PromptMessage[] =>
  withSystemFirst(prompt).filter(hasContent).map(withOneAnswerEach)

/** From Gemini 2.5 on, models think and show it on request. Older models refuse the request field. */
export const showsThoughts = (model: string): boolean => /gemini-(2\.5|[3-9]|\d\d)/.test(model)

const hasContent = (message: PromptMessage): boolean =>
  typeof message.content === "string" ||
  message.content.some((part) => !("text" in part) || part.text !== "" || part.providerOptions !== undefined)

const withOneAnswerEach = (message: PromptMessage): PromptMessage =>
  message.role === "tool" && message.content.some(({ output }) => output.type === "content")
    ? { ...message, content: message.content.map(withOneText) }
    : message

/**
 * Before Gemini 3 the SDK writes one `functionResponse` per text of a result and none for its files. A picture alone would
 * leave its call unanswered, and two texts would answer it twice. The API refuses both.
 */
const withOneText = (part: ToolResultPart): ToolResultPart => {
  if (part.output.type !== "content") return part
  const { value } = part.output
  const files = value.filter((piece) => piece.type === "file")
  const said = value.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n")
  const text =
    said === "" ? files.map(({ mediaType }) => `[${mediaType} file, shown below]`).join("\n") : said
  return { ...part, output: { type: "content", value: [{ type: "text", text }, ...files] } }
}
