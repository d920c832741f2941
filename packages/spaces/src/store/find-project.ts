/**
 * The project a command works in: the nearest parent folder that has state, a repository or skills, else the folder
 * itself.
 *
 * Everything is below the home folder, a temporary folder or the root of the file system. Files in one of these say
 * nothing about a folder below it, and would make one project of unrelated folders: `~/.agents/skills` holds skills
 * for all projects, and anyone may put something into `/tmp`. They only count for a command in that folder itself. A
 * repository in the home folder also counts below it, as it does for git.
 */
import { existsSync, realpathSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

type Environment = Readonly<Record<string, string | undefined>>

export const findProject = (env: Environment, cwd: string): string => {
  const told = env["MERIDIAN_REPO_ROOT"] ?? ""
  if (told !== "") return resolve(cwd, told)
  const homes = namesOf(env["HOME"])
  const temporary = namesOf(env["TMPDIR"])
  for (let folder = cwd; ; folder = dirname(folder)) {
    const isHome = homes.includes(folder)
    const isEverybodys = dirname(folder) === folder || temporary.includes(folder) || isForAll(folder)
    const signs = folder === cwd ? SIGNS : isHome ? [REPOSITORY] : isEverybodys ? [] : SIGNS
    if (signs.some((sign) => existsSync(join(folder, sign)))) return folder
    if (isHome || dirname(folder) === folder) return cwd
  }
}

const REPOSITORY = ".git"
const SIGNS = [".meridian", REPOSITORY, ".agents/skills"] as const

/** The path as configured, and its real path. */
const namesOf = (told = ""): readonly string[] => {
  if (told === "") return []
  try {
    return [resolve(told), realpathSync.native(told)]
  } catch {
    return [resolve(told)]
  }
}

/** Anyone may write there, but remove only their own files: `/tmp`. */
const isForAll = (folder: string): boolean => {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  return (mode & STICKY) !== 0 && (mode & WRITABLE_BY_ALL) !== 0
}

const STICKY = 0o1000
const WRITABLE_BY_ALL = 0o0002
