/** All built-in tools of one Location, and what they share. */
import type { PermissionRule } from "../domain/permission.ts"
import type { Looking } from "../domain/tool-traits.ts"
import type { BuiltinTool, Tool } from "../port/tool.ts"
import { APPLY_PATCH } from "./apply-patch.ts"
import { BASH, type WrapCommand } from "./bash.ts"
import { EDIT } from "./edit.ts"
import type { FileLocks } from "./file-locks.ts"
import { GLOB } from "./glob.ts"
import { GREP } from "./grep.ts"
import { TOOL_LIMITS } from "./limits.ts"
import type { ProcessGuard } from "./process-guard.ts"
import { QUESTION } from "./question.ts"
import type { NamedPlace } from "./read-places.ts"
import { READ } from "./read.ts"
import { EXPAND, RECALL, type HistoryOptions } from "./recall.ts"
import type { Place } from "./resolve-path.ts"
import { SKILL, type SkillOptions } from "./skill.ts"
import { openSlots, type Slots } from "./slots.ts"
import type { PieceFilter } from "./spool.ts"
import { TASK, type TaskOptions } from "./task.ts"
import { TODO } from "./todo.ts"
import { WEBFETCH, type WebfetchOptions } from "./webfetch.ts"
import { WRITE } from "./write.ts"

export interface BuiltinOptions extends Place, TaskOptions, WebfetchOptions, SkillOptions, HistoryOptions {
  /** One per engine, because two Locations may overlap. */
  readonly locks: FileLocks
  /** One per engine. Closing it ends what commands left in the background. */
  readonly guard: ProcessGuard
  readonly outputDirectory: string
  /** Milliseconds that never go back. */
  readonly monotonic: () => number
  readonly environment: { readonly [name: string]: string | undefined }
  /** Names the store, for `endLeftovers` of the next engine. */
  readonly scope?: string
  /** Removes credentials from the output of commands. */
  readonly hidePieces?: (() => PieceFilter) | undefined
  readonly wrapCommand?: WrapCommand | undefined
  /** Places outside the project that `read` may look at by name. */
  readonly references?: readonly NamedPlace[]
}

/** Everything a built-in tool may use; each takes what it needs. */
interface Shared extends BuiltinOptions {
  readonly slots: Slots
}

/** One line per tool. */
export const BUILTINS: readonly BuiltinTool<Shared>[] = [
  READ,
  GLOB,
  GREP,
  EDIT,
  WRITE,
  APPLY_PATCH,
  BASH,
  TODO,
  TASK,
  QUESTION,
  WEBFETCH,
  SKILL,
  RECALL,
  EXPAND,
]

/**
 * Rules that allow every built-in tool that changes nothing: those limited to the session, or those that look at the
 * project too.
 */
export const lookingRules = (at: Looking["at"]): readonly PermissionRule[] =>
  BUILTINS.flatMap(({ name, traits: { action = name, looking } }) =>
    looking === undefined || (at === "session" && looking.at === "project")
      ? []
      : (looking.resources ?? ["*"]).map((resource) => ({ action, resource, effect: "allow" as const })),
  )

export const builtinTools = (options: BuiltinOptions): readonly Tool[] => {
  const shared = { ...options, slots: openSlots(TOOL_LIMITS.searchesAtOnce) }
  return BUILTINS.map(({ open, traits }) => Object.assign(open(shared), { traits }))
}
