/**
 * What the engine has to know of a tool besides how to run it. Each tool says it in its own file; nobody else in the engine
 * knows tools by their names.
 */
import type { Json, ToolKind } from "@meridian/protocol"

/**
 * Which files a call may change: none; those it asks to edit, by the resources of its question; or any of the place. What is
 * not said is the last.
 */
export type Changes = "none" | "asked" | "any"

/** A call that changes nothing but the session, and how far it looks; of some tools only for these resources. */
export interface Looking {
  readonly at: "session" | "project"
  readonly resources?: readonly string[]
}

export interface ToolTraits {
  /** Recorded with each call. */
  readonly kind?: ToolKind
  /** Whoever may only look may make it. */
  readonly looking?: Looking
  /** The word its permission is asked under; without one, its name. A denial of that word hides the tool. */
  readonly action?: string
  /** Its results stay when old results make room. */
  readonly keepsResults?: boolean
  /** The file a call reads, and in which reference; instructions beside it are told from then on. */
  readonly fileRead?: (input: Json) => { readonly path: string; readonly reference?: string } | undefined
  readonly changes?: Changes | ((input: Json) => Changes)
}

export type TraitsOf = (tool: string) => ToolTraits

export const changesOf = ({ changes = "any" }: ToolTraits, input: Json): Changes =>
  typeof changes === "function" ? changes(input) : changes
