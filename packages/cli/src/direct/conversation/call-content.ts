/** What a call in question would do, as lines a person can judge: the command, the text, the change. Pure. */
import { changeInCall, isJsonObject, oneLine, type Json } from "@meridian/protocol"

import { several } from "./describe.ts"
import { plainText } from "./plain-text.ts"

const MOST_CHARACTERS = 200_000

/** A tool from elsewhere (an MCP server, an embedder) names no resource, so a person can only judge its input. */
export const isUnnamed = (resources: readonly string[]): boolean =>
  resources.length === 1 && resources[0] === "*"

/** What its resources do not say already. Empty if they say it all. */
export const callContent = (resources: readonly string[], input: Json | undefined): readonly string[] => {
  if (isUnnamed(resources)) return input === undefined ? ["*"] : marked("", everyField(input))
  const { before, after, patch, content } = changeInCall(input)
  if (before || after) return [...marked("- ", before), ...marked("+ ", after)]
  return patch === undefined ? marked("+ ", content) : marked("", patch)
}

/** The whole call, for the scrollback. */
export const wholeCall = (resources: readonly string[], input: Json | undefined): readonly string[] => [
  ...(isUnnamed(resources) ? [] : marked("", resources.join("\n"))),
  ...callContent(resources, input),
]

/** The lines of a text come below its name, so that none of them can pass for another field. */
const everyField = (input: Json): string => {
  if (typeof input === "string") return input
  if (!isJsonObject(input)) return JSON.stringify(input)
  const fields = Object.entries(input).map(([name, value]) => {
    const text = plainText(typeof value === "string" ? value : JSON.stringify(value))
    const label = oneLine(name)
    return text.includes("\n") ? `${label}:\n${text.replaceAll(/^/gm, "  ")}` : `${label}: ${text}`
  })
  return fields.length === 0 ? "(no input)" : fields.join("\n")
}

const marked = (mark: string, text: string | undefined): readonly string[] => {
  if (text === undefined || text === "") return []
  const cut = text.length - MOST_CHARACTERS
  const lines = plainText(text.slice(0, MOST_CHARACTERS)).replace(/\n$/, "").split("\n")
  return [
    ...lines.map((line) => mark + line),
    ...(cut > 0 ? [`… and ${several(cut, "character")} more`] : []),
  ]
}
