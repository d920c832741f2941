/**
 * The working set: the paths that a session touched most recently, in the order of the last touch. A value; adding returns
 * a new one. Paths are project-relative, normalised and one line each.
 */
import { sanitizeLine } from "../text/sanitize-line.ts"

/** Oldest first. */
export type WorkingSet = readonly string[]

export interface Place {
  /** Absolute, with `/` between names. Paths outside it do not belong to the project and are dropped. */
  readonly root: string
  /** The base of relative paths: the root or a folder inside it. */
  readonly directory: string
}

export const WORKING_SET_LIMITS = { kept: 200, shown: 20, pathLength: 300, touched: 1000 } as const

export const touchPaths = (set: WorkingSet, touched: readonly string[], place: Place): WorkingSet => {
  const latest = new Set<string>()
  for (const path of touched.slice(-WORKING_SET_LIMITS.touched)) {
    const inside = projectPath(path, place)
    if (inside === undefined) continue
    // Deleted first, so that a path named twice moves to its last position.
    latest.delete(inside)
    latest.add(inside)
  }
  if (latest.size === 0) return set
  return [...set.filter((path) => !latest.has(path)), ...latest].slice(-WORKING_SET_LIMITS.kept)
}

/** The project-relative path; undefined when it is outside the root, the root itself, or not a path. */
export const projectPath = (path: string, { root, directory }: Place): string | undefined => {
  if (path.trim() === "" || path.length > 4096 || path.includes("://")) return undefined
  const absolute = namesOf(toSlashes(path), toSlashes(directory))
  const base = namesOf(toSlashes(root), "/")
  if (absolute === undefined || base === undefined || absolute.length <= base.length) return undefined
  if (base.some((name, index) => absolute[index] !== name)) return undefined
  const inside = sanitizeLine(absolute.slice(base.length).join("/"), WORKING_SET_LIMITS.pathLength)
  return inside === "" ? undefined : inside
}

/**
 * When the session started in a sub-folder, rules there may use paths from that folder, so the list contains both forms.
 */
export const withNearPaths = (set: WorkingSet, { root, directory }: Place): WorkingSet => {
  const prefix = projectPath(directory, { root, directory })
  if (prefix === undefined) return set
  const near = set
    .filter((path) => path.startsWith(`${prefix}/`))
    .map((path) => path.slice(prefix.length + 1))
  return [...set, ...near]
}

/** The block of seed 003, a literal contract. Empty without paths. */
export const renderWorkingSet = (set: WorkingSet): string => {
  if (set.length === 0) return ""
  const shown = set.slice(-WORKING_SET_LIMITS.shown).toSorted(byCodeUnit)
  const hidden = set.length - shown.length
  return [
    "OpenCode Rules: Working context",
    "Current file paths in context:",
    ...shown.map((path) => `  - ${path}`),
    ...(hidden > 0 ? [`  ... and ${hidden} more paths`] : []),
  ].join("\n")
}

const byCodeUnit = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

const WINDOWS_PATH = /^[A-Za-z]:[\\/]/

const toSlashes = (path: string): string =>
  WINDOWS_PATH.test(path) ? `/${path.replaceAll("\\", "/")}` : path

/** The names of an absolute path with `.` and `..` resolved; undefined when it climbs above the top. */
const namesOf = (path: string, from: string): readonly string[] | undefined => {
  const full = path.startsWith("/") ? path : `${from}/${path}`
  const names: string[] = []
  for (const name of full.split("/")) {
    if (name === "" || name === ".") continue
    if (name !== "..") names.push(name)
    else if (names.pop() === undefined) return undefined
  }
  return names
}
