/**
 * Workspaces: names for places that several machines have. A session says in which workspace it works; an engine says which
 * ones it has, and where. `shared`, for sessions that name none, means the same path on every machine unless a folder is
 * configured.
 */
import { Failure, type Location } from "@meridian/protocol"

/** The workspace of sessions without one. */
export const SHARED = "shared"

/** Names and their folders. Undefined: paths are used as the session gives them. */
export type Workspaces = ReadonlyMap<string, string | undefined>

export interface Places {
  /** This machine can work on sessions at this location. */
  readonly has: (location: Location | undefined) => boolean
  readonly isAt: (location: Location | undefined, directory: string) => boolean
  /** The directory on this machine. Fails for a location outside its workspace. */
  readonly directoryOf: (location: Location | undefined) => string
  /** Like `directoryOf`, but for people: a location that is not on this machine is shown as written. */
  readonly lookUp: (location: Location) => string
  /** The form to store: relative to a named workspace, so that every machine finds it. */
  readonly written: (location: Location) => Location
}

/** Undefined: every workspace is available, with paths as they are. */
export const openPlaces = (workspaces: Workspaces | undefined): Places => {
  const rootOf = ({ workspaceID = SHARED }: Location): string | undefined => workspaces?.get(workspaceID)

  /** Undefined when the path leads out of its workspace. */
  const find = (location: Location): string | undefined => {
    const root = rootOf(location)
    if (root === undefined) return location.directory
    const directory = plainPath(
      isRooted(location.directory) ? location.directory : `${root}/${location.directory}`,
    )
    return wayFrom(root, directory) === undefined ? undefined : directory
  }

  const within = (location: Location): string => {
    const directory = find(location)
    if (directory !== undefined) return directory
    throw new Failure("WORKSPACE_LEFT", {
      directory: location.directory,
      workspace: location.workspaceID ?? SHARED,
      root: rootOf(location) ?? "",
    })
  }

  return {
    has: (location) => workspaces === undefined || workspaces.has(location?.workspaceID ?? SHARED),
    isAt: (location, directory) => location !== undefined && find(location) === directory,
    directoryOf: (location) => (location === undefined ? "" : within(location)),
    lookUp: (location) => find(location) ?? location.directory,
    written: (location) => {
      const root = rootOf(location)
      if (root === undefined) return location
      const directory = within(location)
      if (location.workspaceID === undefined) return { directory }
      return { ...location, directory: wayFrom(root, directory) ?? "." }
    },
  }
}

/** The project that approvals of a location belong to, the same on every machine. */
export const projectOf = (location: Location | undefined, directory: string): string =>
  location?.workspaceID === undefined || isRooted(location.directory)
    ? directory
    : `${location.workspaceID}:${location.directory}`

const isRooted = (path: string): boolean => path.startsWith("/")

/** Removes `.`, `..` and doubled slashes. Purely textual; nothing is looked up. */
const plainPath = (path: string): string => {
  const parts: string[] = []
  for (const part of path.split("/"))
    if (part === "..") parts.pop()
    else if (part !== "" && part !== ".") parts.push(part)
  return `/${parts.join("/")}`
}

/** The path inside `root`; `.` for the folder itself, undefined when the path is outside. */
const wayFrom = (root: string, path: string): string | undefined => {
  const folder = plainPath(root)
  if (path === folder) return "."
  const inside = folder === "/" ? folder : `${folder}/`
  return path.startsWith(inside) ? path.slice(inside.length) : undefined
}
