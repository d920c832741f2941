/**
 * Files of a type that a provider does not accept. It would refuse the request and every later one of the session, so such
 * files are sent as text: a text file as its content, any other as a note that it was there.
 */
import type { FilePart, PromptMessage, TextPart, ToolResultPart } from "../domain/prompt.ts"
import { openSearch } from "./beginnings.ts"
import type { ProviderName } from "./config.ts"

const PICTURES = "image/jpeg|image/png|image/gif|image/webp"

/** From the providers' documentation. Types not listed here were refused by one of their models. */
const READS: Readonly<Record<ProviderName, RegExp>> = {
  anthropic: new RegExp(`^(${PICTURES}|application/pdf|text/plain)$`),
  openai: new RegExp(`^(${PICTURES}|application/pdf)$`),
  google: new RegExp(`^(${PICTURES}|image/hei[cf]|application/pdf|text/plain|(audio|video)/[\\w.+-]+)$`),
  "openai-compatible": new RegExp(`^(${PICTURES}|application/pdf|audio/(wav|mpeg|mp3))$`),
  scripted: /./,
}

export type ReadableFiles = (prompt: readonly PromptMessage[]) => readonly PromptMessage[]

/** Returns the prompt itself when nothing changes. A changed message stays the same object afterwards. */
export const openReadableFiles = (provider: ProviderName): ReadableFiles => {
  const known = new WeakMap<PromptMessage, PromptMessage>()
  const isRefused = (part: TextPart | FilePart): part is FilePart =>
    part.type === "file" && !READS[provider].test(part.mediaType.toLowerCase())
  const holdsRefused = ({ output }: ToolResultPart): boolean =>
    output.type === "content" && output.value.some(isRefused)
  const hasRefused = (message: PromptMessage): boolean =>
    message.role === "user"
      ? message.content.some(isRefused)
      : message.role === "tool" && message.content.some(holdsRefused)

  const shape = (message: PromptMessage): PromptMessage => {
    if (!hasRefused(message)) return message
    const shaped = known.get(message) ?? replaceFiles(message, isRefused)
    known.set(message, shaped)
    return shaped
  }
  const anyRefused = openSearch(hasRefused)
  return (prompt) => (anyRefused(prompt) ? prompt.map(shape) : prompt)
}

type IsRefused = (part: TextPart | FilePart) => part is FilePart

const replaceFiles = (message: PromptMessage, isRefused: IsRefused): PromptMessage => {
  const replace = (part: TextPart | FilePart): TextPart | FilePart =>
    isRefused(part) ? { type: "text", text: describeFile(part) } : part
  const inResult = (result: ToolResultPart): ToolResultPart =>
    result.output.type === "content"
      ? { ...result, output: { type: "content", value: result.output.value.map(replace) } }
      : result
  if (message.role === "user") return { ...message, content: message.content.map(replace) }
  return message.role === "tool" ? { ...message, content: message.content.map(inResult) } : message
}

/** Types whose bytes are text. */
const TEXTUAL =
  /^(text\/.*|image\/svg\+xml|application\/(json|xml|yaml|x-yaml|toml|javascript|typescript|sql|x-sh|x-httpd-php|graphql|.*\+(json|xml|yaml)))$/

const describeFile = ({ data, mediaType, filename }: FilePart): string => {
  const name = filename === undefined ? "File" : `File ${JSON.stringify(filename)}`
  const kind = mediaType.toLowerCase()
  const text = data.type === "text" ? data.text : TEXTUAL.test(kind) ? decode(data.data) : undefined
  if (text !== undefined) return `${name} (${mediaType}):\n${text}`
  const bytes = data.type === "data" ? Math.floor((data.data.length * 3) / 4) : 0
  return `[${name} (${mediaType}, ${bytes} bytes) was attached; you cannot read files of this kind here.]`
}

/** Undefined when the bytes are not UTF-8 after all. */
const decode = (base64: string): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(base64, "base64"))
  } catch {
    return undefined
  }
}
