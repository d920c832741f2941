/**
 * How a foreign session file is read: twice, entry by entry. The first pass looks at all of it (which branch is the
 * newest, what it is called), the second says what was said. A reader is pure and takes any JSON: what it does not
 * understand is counted as lost.
 */
import { asObject, type Json, type JsonObject } from "@meridian/protocol"

import type { Losses } from "./losses.ts"
import type { Piece } from "./piece.ts"

export type Format = "claude" | "codex" | "opencode" | "pi"

export interface About {
  /** What the source calls it. */
  readonly id: string
  readonly directory?: string
  readonly title?: string
  /** Milliseconds since 1970. */
  readonly began?: number
}

export interface ConversationReader {
  readonly survey: (entry: JsonObject) => void
  /**
   * Both passes in one, as if the conversation had never gone back. `isStraight` tells afterwards whether that was true
   * and, of entries behind an earlier reading, whether they follow one of its marks; when not, all that was said this way
   * is to be forgotten.
   */
  readonly straight: (entry: JsonObject) => readonly Piece[]
  readonly isStraight: (marks: ReadonlySet<string> | undefined) => boolean
  /** What later entries may follow. */
  readonly marks: () => readonly string[]
  /** Behind the first pass; undefined when the file does not say which session it is. */
  readonly about: () => About | undefined
  /** The second pass, over the same entries. */
  readonly read: (entry: JsonObject) => readonly Piece[]
}

export type OpenReader = (losses: Losses) => ConversationReader

/** The last moment of the year 9999: what is later is a mistake, and no date can show much more. */
const LATEST_TIME = 253_402_300_799_999

/** ISO 8601 or milliseconds, as sources write it. */
export const timeOf = (value: unknown): number | undefined => {
  const time = typeof value === "string" ? Date.parse(value) : value
  return typeof time === "number" && time >= 0 && time <= LATEST_TIME ? Math.floor(time) : undefined
}

/** For spreading: absent stays absent. */
export const dated = (value: unknown): { readonly time?: number } => {
  const time = timeOf(value)
  return time === undefined ? {} : { time }
}

/** The blocks of a message; one that is only text may stand without a block around it. */
export const blocksIn = (content: Json | undefined): readonly JsonObject[] => {
  if (typeof content === "string") return [{ type: "text", text: content }]
  if (!Array.isArray(content)) return []
  const list: readonly Json[] = content
  return objectsIn(list.map((entry) => (typeof entry === "string" ? { type: "text", text: entry } : entry)))
}

/** What is no object is left out. */
export const objectsIn = (list: Json | undefined): readonly JsonObject[] =>
  Array.isArray(list) ? list.filter((entry: Json): entry is JsonObject => asObject(entry) !== undefined) : []
