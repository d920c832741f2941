/** Where a plugin instance works, and which folder's state it reports. */
import { existsSync } from "node:fs"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"

import type { Place } from "@meridian/continuity"

import { textField } from "./field.ts"

/**
 * The project is the worktree. Outside version control OpenCode reports `/`; then it is the user's folder. A worktree that
 * does not contain that folder is not trusted either.
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

/** The state to report: that of the user's folder if it has its own, otherwise the project's. */
export const stateRoot = ({ root, directory }: Place): string =>
  directory !== root && STATE.some((name) => existsSync(join(directory, name))) ? directory : root
