/** Where a plugin instance works, and which folders hold its rules. */
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"

import type { Place, RulesFolder } from "@meridian/continuity"

import { textField } from "./field.ts"
import type { World } from "./world.ts"

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

const PROJECT_FOLDERS = [".opencode/rules", ".meridian/rules"] as const
const LEVELS = 16

/** Global folders, then those of the project from its root down to where the user is: nearer rules come later. */
export const rulesFolders = ({ root, directory }: Place, world: World): readonly RulesFolder[] => {
  const { environment } = world
  const configured = environment["OPENCODE_CONFIG_DIR"]
  const home = environment["HOME"] ?? homedir()
  const base = environment["XDG_CONFIG_HOME"] || join(home, ".config")
  const globals = [configured, join(base, "opencode")]
    .filter((folder): folder is string => folder !== undefined && folder !== "")
    .map((folder) => ({ root: resolve(folder, "rules"), path: "." }))
  const levels: string[] = []
  for (let level = directory; levels.length < LEVELS; level = dirname(level)) {
    levels.unshift(level)
    if (level === root || dirname(level) === level) break
  }
  const project = levels.flatMap((level) =>
    PROJECT_FOLDERS.map((folder) => ({ root, path: join(relative(root, level), folder) })),
  )
  return [...globals, ...project]
}
