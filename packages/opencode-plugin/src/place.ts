/** Where a plugin instance works, and whose state it tells. */
import { existsSync } from "node:fs"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"

import type { Place } from "@meridian/continuity"

import { textField } from "./field.ts"

/**
 * The project is the worktree; outside of version control OpenCode says `/`, and then it is the folder the user is in.
 * A worktree that does not hold that folder is not believed either.
 */
export const placeOf = (input: unknown, workingDirectory: string): Place => {
  const given = textField(input, "directory") ?? textField(input, "worktree") ?? workingDirectory
  const directory = resolve(given)
  const worktree = textField(input, "worktree")
  if (worktree === undefined || !isAbsolute(worktree)) return { root: directory, directory }
  const root = resolve(worktree)
  const inside = relative(root, directory)
  const holds = inside === "" || (!inside.startsWith(`..${sep}`) && inside !== ".." && !isAbsolute(inside))
  return dirname(root) === root || !holds ? { root: directory, directory } : { root, directory }
}

const STATE = ["SESSION.md", ".codex/specs", ".codex/bugs"] as const

/** Whose state is told: of the folder the user is in when it keeps its own, else of the project. */
export const stateRoot = ({ root, directory }: Place): string =>
  directory !== root && STATE.some((name) => existsSync(join(directory, name))) ? directory : root
