/**
 * The project a command works in: the nearest folder upward that has state, a repository or skills, else the folder itself.
 *
 * Everything lies in the home folder, in a temporary folder and in the root of the file system. What stands in one of them says
 * nothing about a folder below it, and would make one project of strangers: `~/.agents/skills` is where skills of all projects lie,
 * and anybody may put something into `/tmp`. It counts for whoever stands there. A repository of the home folder counts below it
 * as well: git says the same.
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

/** As it is told, and where links lead. */
const namesOf = (told = ""): readonly string[] => {
  if (told === "") return []
  try {
    return [resolve(told), realpathSync.native(told)]
  } catch {
    return [resolve(told)]
  }
}

/** Anybody may write there, and remove only what is his own: `/tmp`. */
const isForAll = (folder: string): boolean => {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  return (mode & STICKY) !== 0 && (mode & WRITABLE_BY_ALL) !== 0
}

const STICKY = 0o1000
const WRITABLE_BY_ALL = 0o0002
