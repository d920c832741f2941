/**
 * Workspaces: names for places that several machines have. A session says in which it works; an engine says which it has, and
 * where. `shared`, the one of sessions that name none, is the same path everywhere unless somebody says where it lies.
 */
import { Failure, type Location } from "@meridian/protocol"

/** The workspace of sessions that name none. */
export const SHARED = "shared"

/** Names with their folders; undefined: paths are as a session says them. */
export type Workspaces = ReadonlyMap<string, string | undefined>

export interface Places {
  /** Sessions there can be worked on here. */
  readonly has: (location: Location | undefined) => boolean
  readonly isAt: (location: Location | undefined, directory: string) => boolean
  /** Where it lies on this machine; outside of its workspace it lies nowhere. */
  readonly directoryOf: (location: Location | undefined) => string
  /** As `directoryOf`, for people: what lies nowhere here is shown as it was said. */
  readonly lookUp: (location: Location) => string
  /** As it is written down: inside a named workspace by the way from there, so that every machine finds it. */
  readonly written: (location: Location) => Location
}

/** Undefined: every workspace is here, with its paths as they are. */
export const openPlaces = (workspaces: Workspaces | undefined): Places => {
  const rootOf = ({ workspaceID = SHARED }: Location): string | undefined => workspaces?.get(workspaceID)

  /** Undefined: it leads out of its workspace. */
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

/** What approvals of a location are for: the same on every machine. */
export const projectOf = (location: Location | undefined, directory: string): string =>
  location?.workspaceID === undefined || isRooted(location.directory)
    ? directory
    : `${location.workspaceID}:${location.directory}`

const isRooted = (path: string): boolean => path.startsWith("/")

/** Without `.`, `..` and what is written twice: as words, nothing is looked up. */
const plainPath = (path: string): string => {
  const parts: string[] = []
  for (const part of path.split("/"))
    if (part === "..") parts.pop()
    else if (part !== "" && part !== ".") parts.push(part)
  return `/${parts.join("/")}`
}

/** `.` for the folder itself; undefined: the path leads elsewhere. */
const wayFrom = (root: string, path: string): string | undefined => {
  const folder = plainPath(root)
  if (path === folder) return "."
  const inside = folder === "/" ? folder : `${folder}/`
  return path.startsWith(inside) ? path.slice(inside.length) : undefined
}
