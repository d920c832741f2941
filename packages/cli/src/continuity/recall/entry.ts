/** One thing that was said in a conversation, as recall shows it: who, when, what, and its number there. */
import type { Piece } from "@meridian/continuity"

export interface Entry {
  /** The line of the transcript, or the place of the message. Stable, because both only grow. */
  readonly number: number
  readonly role: "user" | "assistant" | "tool" | "summary"
  readonly time?: number
  readonly text: string
}

/** At most this much of one entry is searched. */
const TEXT_LENGTH = 64 * 1024

export const entriesOf = (pieces: readonly Piece[], number: number): readonly Entry[] =>
  pieces.flatMap((piece): readonly Entry[] => {
    const at = "time" in piece && piece.time !== undefined ? { time: piece.time } : {}
    const entry = (role: Entry["role"], text: string): readonly Entry[] =>
      text.trim() === "" ? [] : [{ number, role, ...at, text: text.slice(0, TEXT_LENGTH) }]
    switch (piece.kind) {
      case "prompt":
        return entry("user", piece.prompt.text)
      case "text":
        return entry("assistant", piece.text)
      case "call":
        return entry("tool", `${piece.tool} ${JSON.stringify(piece.input ?? piece.raw ?? {})}`)
      case "result":
        return entry("tool", piece.content.map((part) => (part.type === "text" ? part.text : "")).join("\n"))
      case "summary":
        return entry("summary", piece.text)
      case "reasoning":
      case "todo":
      case "usage":
      case "failed":
      case "agent":
      case "mode":
      case "skill":
      case "files":
      case "window":
        return []
    }
  })
