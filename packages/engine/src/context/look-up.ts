/**
 * What lies at a path, for places that are asked for every turn and are mostly empty. Something that was missing can only
 * come into a folder that changes, so one look at the nearest folder above answers for all the places below it. On a slow
 * file system that is most of what a turn costs.
 */
import { lstatSync, statSync, type Stats } from "node:fs"
import { dirname } from "node:path"

/** Undefined when nothing is there. Throws when that cannot be known. */
export type LookUp = (path: string) => Stats | undefined

/**
 * A folder that changed a moment ago may change again without its time showing it: the clocks of file systems tick once per
 * turn of the system's timer, and those of old ones once in two seconds.
 */
const SETTLED_MS = { fine: 100, coarse: 3_000 } as const
const MOST_KNOWN = 1_000

type Stat = (path: string, options: { readonly throwIfNoEntry: false }) => Stats | undefined

/** With the time of change, which nobody can set back. */
type Version = Pick<Stats, "dev" | "ino" | "mtimeMs" | "ctimeMs">

export interface LookUps {
  readonly lookUp: LookUp
  /** Many looks as one: each folder is looked at once while this runs. */
  readonly together: <A>(looks: () => A) => A
}

export const createLookUp = (now: () => number, stat: Stat = statSync): LookUps => {
  /** Missing paths, with the nearest folder above each as it was then. */
  const missing = new Map<string, { readonly folder: string; readonly version: Version }>()
  /** Folders that were looked at together. */
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
      // A link to nowhere: what it waits for may come into any folder.
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

/** A time between two seconds is one that a coarse clock never shows. */
const isSettled = ({ mtimeMs, ctimeMs }: Version, now: number): boolean =>
  now - Math.max(mtimeMs, ctimeMs) >= SETTLED_MS[mtimeMs % 1_000 === 0 ? "coarse" : "fine"]

export const isSame = (one: Version, other: Version): boolean =>
  one.ino === other.ino &&
  one.dev === other.dev &&
  one.mtimeMs === other.mtimeMs &&
  one.ctimeMs === other.ctimeMs

/** Unlike `stat`, `lstat` throws where a file stands in the place of a folder. */
const isLink = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}
