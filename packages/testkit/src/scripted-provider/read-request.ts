/** The few facts that scripts look at, read from any of the four request shapes. Never throws: bodies are outside data. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"

import type { ScriptApi } from "@meridian/engine/script"

export type WireApi = Exclude<ScriptApi, "inside">

export interface RequestFacts {
  readonly model: string
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly system: string
  readonly lastUser: string
  readonly lastText: string
}

export const apiOf = (method: string | undefined, path: string): WireApi | undefined => {
  if (method !== "POST") return undefined
  if (path.endsWith("/chat/completions")) return "chat"
  if (path.endsWith("/responses")) return "responses"
  if (path.endsWith("/messages")) return "messages"
  if (GENERATE.test(path)) return "generate"
  return undefined
}

export const readFacts = (
  api: WireApi,
  { path, body }: { readonly path: string; readonly body: unknown },
): RequestFacts => {
  const fields = asRecord(body)
  if (api === "generate") return readGenerate(path, fields)
  const messages = asMessages(api === "responses" ? fields["input"] : fields["messages"])
  const system = [
    fields["instructions"],
    fields["system"],
    ...messages.filter(({ role }) => role === "system" || role === "developer").map(({ content }) => content),
  ]
  const last = messages.findLast(({ role }) => role === "user")?.content
  return {
    model: typeof fields["model"] === "string" ? fields["model"] : "",
    stream: fields["stream"] === true,
    includeUsage: asRecord(fields["stream_options"])["include_usage"] !== false,
    system: system
      .map(plainText)
      .filter((text) => text !== "")
      .join("\n"),
    lastUser: plainText(last),
    // Agents put their own notes into earlier parts of the same message; the user's words come last.
    lastText: plainText(Array.isArray(last) ? last.filter((part) => textOf(part) !== "").slice(-1) : last),
  }
}

/** The whole body. Resolves when its last byte has arrived. */
export const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- an IncomingMessage without an encoding yields Buffers
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

export const parseBody = (raw: Buffer): unknown => {
  if (raw.length === 0) return undefined
  const text = raw.toString("utf8")
  try {
    return JSON.parse(text)
  } catch {
    return { unparsed: text }
  }
}

const HIDDEN = new Set(["authorization", "x-api-key", "x-goog-api-key", "cookie"])

/** Credentials never reach the log, real or fake. */
export const publicHeaders = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, HIDDEN.has(name) ? "<hidden>" : value]),
  )

/** Google also accepts a key in the URL. */
export const publicPath = (path: string): string => path.replace(/([?&]key=)[^&]*/, "$1<hidden>")

/** Google puts the model name, and whether to stream, into the path. */
const GENERATE = /\/([^/:]+):(stream)?[gG]enerateContent$/

const readGenerate = (path: string, fields: Readonly<Record<string, unknown>>): RequestFacts => {
  const [, model = "", stream] = GENERATE.exec(path.replace(/\?.*$/s, "")) ?? []
  const contents = (Array.isArray(fields["contents"]) ? fields["contents"] : []).map(asRecord)
  const last = contents.findLast(({ role, parts }) => role === "user" && plainText(parts) !== "")?.["parts"]
  const texts = (Array.isArray(last) ? last : []).map(textOf).filter((text) => text !== "")
  return {
    model,
    stream: stream !== undefined,
    includeUsage: true,
    system: plainText(asRecord(fields["systemInstruction"])["parts"]),
    lastUser: texts.join("\n"),
    lastText: texts.at(-1) ?? "",
  }
}

const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {}

const asMessages = (value: unknown): readonly { readonly role: unknown; readonly content: unknown }[] => {
  if (typeof value === "string") return [{ role: "user", content: value }]
  if (!Array.isArray(value)) return []
  return value.map((message: unknown) => {
    const { role, content } = asRecord(message)
    return { role, content }
  })
}

const textOf = (part: unknown): string => {
  if (typeof part === "string") return part
  const { text } = asRecord(part)
  return typeof text === "string" ? text : ""
}

const plainText = (content: unknown): string => {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content
    .map(textOf)
    .filter((text) => text !== "")
    .join("\n")
}
