/**
 * What the engine has to know of a tool besides how to run it. Each tool says it in its own file; nobody else in the engine
 * knows tools by their names.
 */
import type { Json } from "@meridian/protocol"

export interface ToolTraits {
  /** The word its permission is asked under; without one, its name. A denial of that word hides the tool. */
  readonly action?: string
  /** Its results stay when old results make room. */
  readonly keepsResults?: boolean
  /** The file a call reads, and in which reference; instructions beside it are told from then on. */
  readonly fileRead?: (input: Json) => { readonly path: string; readonly reference?: string } | undefined
}

export type TraitsOf = (tool: string) => ToolTraits
