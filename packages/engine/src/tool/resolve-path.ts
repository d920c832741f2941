/**
 * The only function that turns a path from a model into a place on disk. It returns the canonical path (without links and
 * `..`, even for files that do not exist yet), the resource for permissions, and whether the place is outside the project.
 * It decides and opens nothing. Files are opened later by `open-verified.ts`, which refuses when the canonical path no
 * longer leads to the same place.
 */
import { lstat, readlink, realpath } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"

import { systemCode } from "@meridian/protocol"

import { ToolError, type ToolScene } from "../port/tool.ts"
import { TOOL_LIMITS } from "./limits.ts"

/** Where a tool works: relative paths start at `directory`, which is inside the project at `root`. Both are absolute. */
export interface Place {
  readonly directory: string
  readonly root: string
}

export interface ResolvedPath {
  /** As the model wrote it, for messages. */
  readonly named: string
  readonly absolute: string
  /** Project-relative with `/` (`.` for the root itself); absolute when outside. */
  readonly resource: string
  readonly external: boolean
  /** A path the model can use: relative to the working directory, absolute when outside. */
  readonly fromHere: string
}

/** Follows every link. Throws ToolError for an impossible file name. */
export const resolvePath = async (place: Place, named: string): Promise<ResolvedPath> => {
  checkName(named)
  const joined = resolve(place.directory, named)
  checkLength(joined)
  const [root, directory, guess] = await Promise.all([
    canonical(place.root),
    canonical(place.directory),
    canonical(joined),
  ])
  // `..` is removed from the path before links are followed, so the directory must be free of links first.
  const absolute = directory === resolve(place.directory) ? guess : await canonical(resolve(directory, named))
  const placed = placeWithin(root, absolute)
  const fromHere = placed.external ? absolute : withSlashes(relative(directory, absolute)) || "."
  return { named, absolute, ...placed, fromHere }
}

/** Like `resolvePath`, for `read`: refuses absolute paths and everything outside the project, whatever the rules say. */
export const resolveInside = async (place: Place, named: string): Promise<ResolvedPath> => {
  if (isAbsolute(named))
    throw new ToolError(
      "denied",
      `${quote(named)} is absolute; read takes paths relative to the working directory only.`,
    )
  const resolved = await resolvePath(place, named)
  if (resolved.external)
    throw new ToolError("denied", `${quote(named)} leads outside the project; read does not follow it there.`)
  return resolved
}

/** Asks for the directories outside the project that contain these paths. One question, or none when all are inside. */
export const askForExternal = async (
  scene: ToolScene,
  paths: readonly ResolvedPath[],
  what: string,
): Promise<void> => {
  const outside = paths.filter((path) => path.external)
  if (outside.length === 0) return
  const directories = await Promise.all(outside.map((path) => directoryOf(path.absolute)))
  const resources = [...new Set(directories)].sort()
  await scene.ask({
    action: "external_directory",
    resources,
    title: `${what} outside the project: ${resources.join(", ")}`,
    detail: { paths: outside.map((path) => path.absolute) },
  })
}

export const quote = (named: string): string =>
  JSON.stringify(named.length > 200 ? `${named.slice(0, 200)}...` : named)

const checkName = (named: string): void => {
  if (named.includes("\0")) throw new ToolError("invalid-input", "A path cannot contain a NUL character.")
  checkLength(named)
  if (named.split("/").some((segment) => Buffer.byteLength(segment) > TOOL_LIMITS.segmentBytes))
    throw new ToolError(
      "invalid-input",
      `A name in the path is too long: at most ${TOOL_LIMITS.segmentBytes} bytes between slashes.`,
    )
}

const checkLength = (path: string): void => {
  if (Buffer.byteLength(path) >= TOOL_LIMITS.pathBytes)
    throw new ToolError("invalid-input", `The path is too long: at most ${TOOL_LIMITS.pathBytes - 1} bytes.`)
}

const placeWithin = (
  root: string,
  absolute: string,
): { readonly resource: string; readonly external: boolean } => {
  const path = relative(root, absolute)
  if (path === "") return { resource: ".", external: false }
  if (path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path))
    return { resource: absolute, external: true }
  return { resource: withSlashes(path), external: false }
}

const withSlashes = (path: string): string => (sep === "/" ? path : path.replaceAll(sep, "/"))

/**
 * The real path of the deepest existing part, plus the rest unchanged. A dangling link is followed to the place where it
 * would create a file.
 */
const canonical = async (absolute: string, hops = 0): Promise<string> => {
  const missing: string[] = []
  for (let path = absolute; ; path = dirname(path)) {
    try {
      return join(await realpath(path), ...missing)
    } catch (error) {
      const code = systemCode(error)
      if (code !== "ENOENT" && code !== "ENOTDIR") throw unreachable(absolute, code)
      const target = await danglingTarget(path)
      if (target !== undefined) {
        if (hops >= TOOL_LIMITS.linkHops) throw unreachable(absolute, "ELOOP")
        return canonical(join(target, ...missing), hops + 1)
      }
      if (dirname(path) === path) return absolute
      missing.unshift(basename(path))
    }
  }
}

const danglingTarget = async (path: string): Promise<string | undefined> => {
  try {
    return resolve(await realpath(dirname(path)), await readlink(path))
  } catch {
    return undefined
  }
}

/** The directory itself, or the one that contains the file. */
export const directoryOf = async (absolute: string): Promise<string> => {
  try {
    return (await lstat(absolute)).isDirectory() ? absolute : dirname(absolute)
  } catch {
    return dirname(absolute)
  }
}

const unreachable = (absolute: string, code: string): ToolError =>
  code === "ELOOP"
    ? new ToolError("failed", `${quote(absolute)} is a loop of links.`)
    : code === "EACCES"
      ? new ToolError("failed", `${quote(absolute)} cannot be reached: permission denied by the system.`)
      : new ToolError("failed", `${quote(absolute)} cannot be resolved (${code}).`)
