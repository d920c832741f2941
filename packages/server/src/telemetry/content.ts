/** What was said, as attributes of a span: only when configured, and bounded. Pure. */
import type { Prompt, RecordedContent } from "@meridian/protocol"

const MOST_CHARACTERS = 32_768

export const contentAttribute = (name: string, value: unknown): Readonly<Record<string, string>> => {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  const more = text.length - MOST_CHARACTERS
  return { [name]: more <= 0 ? text : `${text.slice(0, MOST_CHARACTERS)} [${more} characters more]` }
}

export const promptMessage = ({ text, files = [] }: Prompt) => ({
  role: "user",
  parts: [
    { type: "text", content: text },
    ...files.map(({ mediaType, name }) => ({ type: "file", mime_type: mediaType, name: name ?? "" })),
  ],
})

export const toolText = (content: readonly RecordedContent[]): string =>
  content.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n")
