/** A file that is one JSON document: parsed whole, or reported with the place where it stops being one. */
import { isUtf8 } from "node:buffer"

import { asObject, type JsonObject } from "@meridian/protocol"

/** The document, or what is wrong with it as the end of a sentence. */
export const parseDocument = (text: string): JsonObject | string => {
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- readers check every value they use
    return asObject(JSON.parse(text)) ?? "it is not one JSON object"
  } catch (cause) {
    return whatIsWrong(text, cause instanceof Error ? cause.message : "")
  }
}

/** V8 puts the place at the end of its message. Before it there may be a piece of the file. */
const whatIsWrong = (text: string, message: string): string => {
  const place = / at position (\d{1,10})(?: \(line \d+ column \d+\))?$/.exec(message)?.[1]
  const at = place === undefined ? undefined : Number(place)
  if (message === "Unexpected end of JSON input" || (at ?? 0) >= text.trimEnd().length)
    return "it is an OpenCode export that is cut short"
  if (at === undefined) return "it looks like an OpenCode export, but is not valid JSON"
  const before = text.slice(0, at).split("\n")
  const column = (before.at(-1)?.length ?? 0) + 1
  return `it looks like an OpenCode export, but is not valid JSON near line ${before.length}, column ${column}`
}

const NEWLINE = 0x0a

/** Lines with bytes that are not UTF-8. */
export const mangledLines = (content: Buffer): number => {
  if (isUtf8(content)) return 0
  let count = 0
  for (let from = 0; from < content.length;) {
    const newline = content.indexOf(NEWLINE, from)
    const to = newline === -1 ? content.length : newline
    if (!isUtf8(content.subarray(from, to))) count += 1
    from = to + 1
  }
  return count
}
