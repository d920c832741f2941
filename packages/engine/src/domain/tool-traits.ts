/**
 * What the engine has to know of a tool besides how to run it. Each tool says it in its own file; nobody else in the engine
 * knows tools by their names.
 */
import type { Json } from "@meridian/protocol"

/**
 * Which files a call may change: none; those it asks to edit, by the resources of its question; or any of the place. What is
 * not said is the last.
 */
export type Changes = "none" | "asked" | "any"

export interface ToolTraits {
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
