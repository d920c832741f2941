/**
 * How a foreign session file is read: twice, entry by entry. The first pass surveys everything (which branch is the newest,
 * what the session is called), the second returns what was said. A reader is pure and accepts any JSON; what it does not
 * understand counts as lost.
 */
import { asObject, type Json, type JsonObject } from "@meridian/protocol"

import type { Losses } from "./losses.ts"
import type { Piece } from "./piece.ts"

export type Format = "claude" | "codex" | "opencode" | "pi"

export interface About {
  /** The source's id for it. */
  readonly id: string
  readonly directory?: string
  readonly title?: string
  /** Milliseconds since 1970. */
  readonly began?: number
}

export interface ConversationReader {
  readonly survey: (entry: JsonObject) => void
  /**
   * Both passes in one, assuming that the conversation never went back. Afterwards `isStraight` says whether that was true
   * and, for entries after an earlier read, whether they follow one of its marks. If not, everything from `straight` must
   * be discarded.
   */
  readonly straight: (entry: JsonObject) => readonly Piece[]
  readonly isStraight: (marks: ReadonlySet<string> | undefined) => boolean
  /** What later entries may follow. */
  readonly marks: () => readonly string[]
  /** Available after the first pass; undefined when the file does not identify its session. */
  readonly about: () => About | undefined
  /** The second pass, over the same entries. */
  readonly read: (entry: JsonObject) => readonly Piece[]
}

export type OpenReader = (losses: Losses) => ConversationReader

/** The last moment of the year 9999. A later time is a mistake, and no date format shows much more. */
const LATEST_TIME = 253_402_300_799_999

/** ISO 8601 or milliseconds, depending on the source. */
export const timeOf = (value: unknown): number | undefined => {
  const time = typeof value === "string" ? Date.parse(value) : value
  return typeof time === "number" && time >= 0 && time <= LATEST_TIME ? Math.floor(time) : undefined
}

/** For spreading: an absent time stays absent. */
export const dated = (value: unknown): { readonly time?: number } => {
  const time = timeOf(value)
  return time === undefined ? {} : { time }
}

/** The blocks of a message. Plain text may come without a block. */
export const blocksIn = (content: Json | undefined): readonly JsonObject[] => {
  if (typeof content === "string") return [{ type: "text", text: content }]
  if (!Array.isArray(content)) return []
  const list: readonly Json[] = content
  return objectsIn(list.map((entry) => (typeof entry === "string" ? { type: "text", text: entry } : entry)))
}

/** Leaves out everything but objects. */
export const objectsIn = (list: Json | undefined): readonly JsonObject[] =>
  Array.isArray(list) ? list.filter((entry: Json): entry is JsonObject => asObject(entry) !== undefined) : []
