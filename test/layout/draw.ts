/** Draws a request for a reviewer: one line per message, long texts by name or cut. */
import type { ScriptRequest } from "@meridian/engine"

type Names = Readonly<Record<string, string>>

export const drawRequest = (request: ScriptRequest, names: Names = {}): string => {
  const prompt = readPrompt(request.body)
  return prompt
    .map(
      ({ role, text }, index) =>
        `${String(index).padStart(2, "0")} ${role.padEnd(9)} ${shorten(text, names)}`,
    )
    .join("\n")
}

export const textOfRequest = (request: ScriptRequest): string => JSON.stringify(request.body)

interface Drawn {
  readonly role: string
  readonly text: string
}

const readPrompt = (body: unknown): readonly Drawn[] => {
  const prompt: unknown = typeof body === "object" && body !== null && "prompt" in body ? body.prompt : []
  return Array.isArray(prompt) ? prompt.map((message: unknown) => drawMessage(message)) : []
}

const drawMessage = (message: unknown): Drawn => {
  if (typeof message !== "object" || message === null || !("role" in message) || !("content" in message))
    return { role: "?", text: JSON.stringify(message) }
  const { role, content } = message
  const text = typeof content === "string" ? content : drawParts(content)
  return { role: String(role), text }
}

const drawParts = (content: unknown): string =>
  Array.isArray(content)
    ? content
        .map((part: Readonly<Record<string, unknown>>) => {
          const native = part["providerOptions"] === undefined ? "" : " +native"
          if (part["type"] === "text") return `${String(part["text"])}${native}`
          if (part["type"] === "reasoning") return `<reasoning ${String(part["text"])}>${native}`
          if (part["type"] === "tool-call") return `<call ${String(part["toolName"])}>${native}`
          return `<${String(part["type"])} ${JSON.stringify(part["output"] ?? "")}>${native}`
        })
        .join(" | ")
    : JSON.stringify(content)

const shorten = (text: string, names: Names): string => {
  let shown = text
  for (const [long, name] of Object.entries(names)) shown = shown.replaceAll(long, name)
  const flat = shown.replaceAll("\n", " / ")
  return flat.length > 150 ? `${flat.slice(0, 147)}...` : flat
}
