/** The searchable text of a conversation: everything said, called and answered. Pure. */
import type { Piece } from "@meridian/continuity"
import { plainText, type Json, type RecordedContent, type StoredEvent } from "@meridian/protocol"

import { SEARCH_LIMITS } from "./limits.ts"

export const wordsOfPiece = (piece: Piece): string => {
  switch (piece.kind) {
    case "prompt":
      return bounded(piece.prompt.text)
    case "text":
    case "reasoning":
    case "summary":
      return bounded(piece.text)
    case "call":
      return `${piece.tool} ${bounded(piece.raw ?? inputText(piece.input))}`
    case "result":
      return contentText(piece.content)
    case "failed":
      return bounded(piece.message)
    case "todo":
      return piece.items.map(({ content }) => content).join("\n")
    case "skill":
    case "agent":
    case "mode":
      return piece.name
    case "usage":
    case "files":
    case "window":
      return ""
  }
}

/** A prompt counts when it is admitted, so one that was never taken up can be found too. */
export const wordsOfEvent = (event: StoredEvent): string => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- most events say nothing
  switch (event.type) {
    case "session.next.prompt.admitted.1":
    case "session.next.prompted.1":
      return bounded(event.data.prompt.text)
    case "session.next.synthetic.1":
    case "session.next.text.ended.1":
    case "session.next.reasoning.ended.1":
      return bounded(event.data.text)
    case "session.next.tool.called.1":
      return `${event.data.tool} ${bounded(event.data.raw ?? inputText(event.data.input))}`
    case "session.next.tool.success.1":
      return contentText(event.data.content)
    case "session.next.tool.failed.1":
    case "session.next.step.failed.2":
    case "session.next.execution.failed.1":
      return bounded(event.data.error.message)
    case "session.next.todo.updated.1":
      return event.data.items.map(({ content }) => content).join("\n")
    case "session.next.compaction.ended.2":
      return bounded(event.data.summary)
    default:
      return ""
  }
}

const contentText = (content: readonly RecordedContent[]): string =>
  bounded(content.map((part) => (part.type === "text" ? part.text : "")).join("\n"))

/** Every text of an input, without the punctuation of JSON. */
const inputText = (input: Json | undefined): string => {
  const texts: string[] = []
  const collect = (value: Json): void => {
    if (typeof value === "string") texts.push(value)
    else if (Array.isArray(value)) value.forEach(collect)
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(collect)
  }
  if (input !== undefined) collect(input)
  return texts.join("\n")
}

const bounded = (text: string): string => {
  const { textHead, textTail } = SEARCH_LIMITS
  const kept =
    text.length <= textHead + textTail
      ? text
      : `${text.slice(0, textHead)}\n${text.slice(text.length - textTail)}`
  // Colours are not part of the words next to them.
  return kept.includes("\u001b") ? plainText(kept) : kept
}
