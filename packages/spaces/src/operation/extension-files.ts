/**
 * Files that extend the engine: `extensions/*.ts` and `*.js` beside the user's own configuration, and in a project if
 * the user trusts the folder with exactly these files. One changed byte, and the user is asked again.
 */
import { createHash, randomUUID } from "node:crypto"
import { lstatSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"

import type { Claim } from "../domain/claim.ts"
import { isCovered } from "../domain/trust.ts"
import { openPlace, type StatePlace } from "../store/place.ts"
import { userConfigFile } from "../store/user-place.ts"
import { trustOf } from "./folder-trust.ts"
import type { World } from "./world.ts"

export interface ExtensionFiles {
  /** The user's own files. */
  readonly own: readonly string[]
  /** The project's files, if they count. */
  readonly project: readonly string[]
  /** The project's files in a state the user has not trusted. */
  readonly untrusted: readonly string[]
}

/** The folder's name, and the key of its claim. */
export const EXTENSIONS = "extensions"

const MOST_FILES = 200
const MOST_BYTES = 4 * 1024 * 1024
const LEVELS = 8

export const findExtensionFiles = (world: Pick<World, "env" | "cwd">): ExtensionFiles => {
  const place = openPlace(world.env, world.cwd)
  const config = userConfigFile(world.env)
  const own = config === undefined ? [] : entriesIn(join(dirname(config), EXTENSIONS))
  const [claim] = extensionClaims(place)
  const project = claim === undefined ? [] : entriesIn(join(place.root, EXTENSIONS))
  return claim !== undefined && isCovered(claim, trustOf(place, world.env))
    ? { own, project, untrusted: [] }
    : { own, project: [], untrusted: project }
}

/** The whole content of such a folder is one claim: a file that another imports decides as much as the file itself. */
export const extensionClaims = ({
  root,
  project,
}: Pick<StatePlace, "root" | "project">): readonly Claim[] => {
  const folder = join(root, EXTENSIONS)
  const entries = entriesIn(folder)
  if (entries.length === 0) return []
  return [
    {
      kind: "program",
      key: EXTENSIONS,
      value: JSON.stringify(markOf(folder)),
      shown: entries.map((path) => relative(project, path)).join(", "),
      where: relative(project, folder),
    },
  ]
}

/** Regular files only: the target of a link may change unseen. */
const entriesIn = (folder: string): readonly string[] =>
  namesIn(folder)
    .filter((name) => /^[\w][\w.-]*\.(?:ts|mts|js|mjs)$/.test(name) && !/\.d\.m?ts$/.test(name))
    .map((name) => join(folder, name))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .slice(0, MOST_FILES)

/**
 * A hash of every file below. A folder with too many or too large files gets a new mark at each look, so it can never
 * be trusted.
 */
const markOf = (folder: string): string => {
  const hash = createHash("sha256")
  let [files, bytes] = [0, 0]
  const take = (path: string, level: number): boolean => {
    for (const name of namesIn(path)) {
      const inner = join(path, name)
      const stat = lstatSync(inner, { throwIfNoEntry: false })
      if (stat?.isDirectory() === true) {
        if (level >= LEVELS || !take(inner, level + 1)) return false
        continue
      }
      files += 1
      bytes += stat?.size ?? 0
      if (stat?.isFile() !== true || files > MOST_FILES || bytes > MOST_BYTES) return false
      hash.update(`${relative(folder, inner)}\0${stat.size}\0`).update(readFileSync(inner))
    }
    return true
  }
  return take(folder, 1) ? hash.digest("hex") : `unbounded ${randomUUID()}`
}

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).toSorted()
  } catch {
    return []
  }
}
