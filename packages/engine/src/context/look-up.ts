/**
 * Looks up paths that are checked every turn and mostly do not exist. A missing file can only appear in a folder that
 * changes, so one check of the nearest existing folder answers for all missing paths below it. On a slow file system this
 * saves most of what a turn costs.
 */
import { lstatSync, statSync, type Stats } from "node:fs"
import { dirname } from "node:path"

/** Undefined when nothing exists there. Throws when that cannot be determined. */
export type LookUp = (path: string) => Stats | undefined

/**
 * A folder that changed just now may change again without a visible difference: a file system's clock ticks with the system
 * timer, and on old ones every two seconds.
 */
const SETTLED_MS = { fine: 100, coarse: 3_000 } as const
const MOST_KNOWN = 1_000

type Stat = (path: string, options: { readonly throwIfNoEntry: false }) => Stats | undefined

/** Includes the change time, which no program can set back. */
type Version = Pick<Stats, "dev" | "ino" | "mtimeMs" | "ctimeMs">

export interface LookUps {
  readonly lookUp: LookUp
  /** Runs many lookups as one: each folder is checked only once while this runs. */
  readonly together: <A>(looks: () => A) => A
}

export const createLookUp = (now: () => number, stat: Stat = statSync): LookUps => {
  /** Missing paths, each with the nearest existing folder as it was then. */
  const missing = new Map<string, { readonly folder: string; readonly version: Version }>()
  /** Folders already checked by `together`. */
  let seen: Map<string, Stats | undefined> | undefined

  const lookAtFolder = (path: string): Stats | undefined => {
    if (seen?.has(path) === true) return seen.get(path)
    const found = stat(path, { throwIfNoEntry: false })
    seen?.set(path, found)
    return found
  }

  const isStillMissing = (path: string): boolean => {
    const known = missing.get(path)
    if (known === undefined) return false
    const version = lookAtFolder(known.folder)
    return version !== undefined && isSame(known.version, version)
  }

  const remember = (path: string): void => {
    missing.delete(path)
    for (let folder = path; ; folder = dirname(folder)) {
      const version = folder === path ? undefined : lookAtFolder(folder)
      if (version !== undefined) {
        if (missing.size >= MOST_KNOWN) missing.clear()
        if (isSettled(version, now())) missing.set(path, { folder, version })
        return
      }
      // A dangling link: its target may appear in any folder.
      if (isLink(folder) || folder === dirname(folder)) return
    }
  }

  return {
    lookUp: (path) => {
      if (isStillMissing(path)) return undefined
      const found = stat(path, { throwIfNoEntry: false })
      if (found === undefined) remember(path)
      return found
    },
    together: (looks) => {
      seen = new Map()
      try {
        return looks()
      } finally {
        seen = undefined
      }
    },
  }
}

/** A time with a fraction of a second does not come from a coarse clock. */
const isSettled = ({ mtimeMs, ctimeMs }: Version, now: number): boolean =>
  now - Math.max(mtimeMs, ctimeMs) >= SETTLED_MS[mtimeMs % 1_000 === 0 ? "coarse" : "fine"]

export const isSame = (one: Version, other: Version): boolean =>
  one.ino === other.ino &&
  one.dev === other.dev &&
  one.mtimeMs === other.mtimeMs &&
  one.ctimeMs === other.ctimeMs

/** Unlike `stat`, `lstat` throws when a parent is a file instead of a folder. */
const isLink = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}
