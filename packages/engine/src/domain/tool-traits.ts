/**
 * What the engine must know about a tool besides how to run it. Each tool declares this in its own file; no other part of
 * the engine knows tools by name.
 */
import type { Json, ToolKind } from "@meridian/protocol"

/**
 * Which files a call may change: none; the files it asks to edit, by the resources of its question; or any file of the
 * place. The default is "any".
 */
export type Changes = "none" | "asked" | "any"

/**
 * A call that changes nothing outside the session, and how far it looks. For some tools this holds only for these
 * resources.
 */
export interface Looking {
  readonly at: "session" | "project"
  readonly resources?: readonly string[]
}

export interface ToolTraits {
  /** Recorded with each call. */
  readonly kind?: ToolKind
  /** Set when an agent that may only look may make the call. */
  readonly looking?: Looking
  /** The action its permission is asked under. Default: its name. Denying this action hides the tool. */
  readonly action?: string
  /** Its calls wait for other work and do none themselves, so they are not counted among those that run at once. */
  readonly waits?: boolean
  /** Its results are never pruned. */
  readonly keepsResults?: boolean
  /** The file that a call reads, and in which reference. Instructions beside it are told from then on. */
  readonly fileRead?: (input: Json) => { readonly path: string; readonly reference?: string } | undefined
  readonly changes?: Changes | ((input: Json) => Changes)
}

export type TraitsOf = (tool: string) => ToolTraits

export const changesOf = ({ changes = "any" }: ToolTraits, input: Json): Changes =>
  typeof changes === "function" ? changes(input) : changes
