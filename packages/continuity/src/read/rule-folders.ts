/**
 * Where rules are, in every host: first the user's own folders, then those of the project from its root down to the working
 * directory, so that nearer rules come later.
 */
import { dirname, join, relative, resolve } from "node:path"

import type { Place } from "../domain/working-set/working-set.ts"
import type { RulesFolder } from "./rules.ts"

const PROJECT_FOLDERS = [".claude/rules", ".opencode/rules", ".meridian/rules"] as const
const LEVELS = 16

export const ruleFolders = (
  { root, directory }: Place,
  environment: Readonly<Record<string, string | undefined>>,
): readonly RulesFolder[] => {
  const levels: string[] = []
  for (let level = directory; levels.length < LEVELS; level = dirname(level)) {
    levels.unshift(level)
    if (level === root || dirname(level) === level) break
  }
  const project = levels.flatMap((level) =>
    PROJECT_FOLDERS.map((folder): RulesFolder => ({ root, path: join(relative(root, level), folder) })),
  )
  return [...ownFolders(environment), ...project]
}

/** People link their configuration from elsewhere (stow, home-manager), so links there may lead anywhere. */
const ownFolders = (environment: Readonly<Record<string, string | undefined>>): readonly RulesFolder[] => {
  const home = environment["HOME"] ?? environment["USERPROFILE"]
  const base = environment["XDG_CONFIG_HOME"] || (home === undefined ? undefined : join(home, ".config"))
  const claude = environment["CLAUDE_CONFIG_DIR"] || (home === undefined ? undefined : join(home, ".claude"))
  const folders = [
    claude,
    environment["OPENCODE_CONFIG_DIR"],
    base === undefined ? undefined : join(base, "opencode"),
    base === undefined ? undefined : join(base, "meridian"),
  ]
  return [...new Set(folders)]
    .filter((folder): folder is string => folder !== undefined && folder !== "")
    .map((folder) => ({ root: resolve(folder, "rules"), path: ".", links: "anywhere" }))
}
