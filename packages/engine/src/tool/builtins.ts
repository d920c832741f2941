/** All built-in tools of one Location, with what they share. */
import type { Tool } from "../port/tool.ts"
import { applyPatchTool } from "./apply-patch.ts"
import { bashTool } from "./bash.ts"
import { editTool } from "./edit.ts"
import type { FileLocks } from "./file-locks.ts"
import { globTool } from "./glob.ts"
import { grepTool } from "./grep.ts"
import { TOOL_LIMITS } from "./limits.ts"
import type { ProcessGuard } from "./process-guard.ts"
import type { NamedPlace } from "./read-places.ts"
import { readTool } from "./read.ts"
import type { Place } from "./resolve-path.ts"
import { openSlots } from "./slots.ts"
import type { PieceFilter } from "./spool.ts"
import { todoTool } from "./todo.ts"
import { writeTool } from "./write.ts"

export interface BuiltinOptions extends Place {
  /** One per engine: two Locations may overlap. */
  readonly locks: FileLocks
  /** One per engine; closing it ends what commands left in the background. */
  readonly guard: ProcessGuard
  readonly outputDirectory: string
  readonly environment: { readonly [name: string]: string | undefined }
  /** Names the store, for `endLeftovers` of the next engine. */
  readonly scope?: string
  /** Takes credentials out of what commands print. */
  readonly hidePieces?: (() => PieceFilter) | undefined
  /** Places outside the project that `read` may look at by name. */
  readonly references?: readonly NamedPlace[]
}

export const builtinTools = (options: BuiltinOptions): readonly Tool[] => {
  const search = { ...options, slots: openSlots(TOOL_LIMITS.searchesAtOnce) }
  return [
    readTool(options),
    globTool(search),
    grepTool(search),
    editTool(options),
    writeTool(options),
    applyPatchTool(options),
    bashTool(options),
    todoTool(),
  ]
}
