/**
 * The OpenCode plugin is one file in a configuration folder, a copy of the built one: `.opencode/plugins/meridian.ts`
 * in a project, or the same in the user's folder.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { Failure } from "@meridian/protocol"

/** Marks a file as ours. The build puts it first. */
export const PLUGIN_MARK = "/*! meridian for OpenCode"

const PLACE = "plugins/meridian.ts"
/** Where a person could have put it by hand; OpenCode would load both copies. */
const OTHER_PLACES = ["plugins/meridian.js", "plugin/meridian.ts", "plugin/meridian.js"] as const

export interface PluginChange {
  readonly path: string
  readonly action: "installed" | "updated" | "unchanged" | "removed" | "absent"
}

export const installPlugin = (folder: string): PluginChange => {
  const path = join(folder, PLACE)
  const built = readBuilt()
  const before = readText(path)
  if (before !== undefined && !before.startsWith(PLUGIN_MARK)) throw new Failure("PLUGIN_NOT_OURS", { path })
  for (const other of OTHER_PLACES) removeOurs(join(folder, other))
  if (before === built) return { path, action: "unchanged" }
  mkdirSync(dirname(path), { recursive: true })
  const fresh = `${path}.${process.pid}.tmp`
  writeFileSync(fresh, built)
  renameSync(fresh, path)
  return { path, action: before === undefined ? "installed" : "updated" }
}

export const removePlugin = (folder: string): PluginChange => {
  const path = join(folder, PLACE)
  const before = readText(path)
  if (before !== undefined && !before.startsWith(PLUGIN_MARK)) throw new Failure("PLUGIN_NOT_OURS", { path })
  const removed = [PLACE, ...OTHER_PLACES].filter((place) => removeOurs(join(folder, place)))
  return { path, action: removed.length > 0 ? "removed" : "absent" }
}

export interface FoundPlugin {
  readonly path: string
  /** Our plugin in this version, in another version, or someone else's plugin. */
  readonly kind: "current" | "older" | "other"
  readonly text: string
}

/** Files that OpenCode would load from these configuration folders. */
export const findPlugins = (folders: readonly string[]): readonly FoundPlugin[] =>
  folders.flatMap((folder) =>
    ["plugins", "plugin"].flatMap((name) =>
      filesIn(join(folder, name)).flatMap((file): readonly FoundPlugin[] => {
        const path = join(folder, name, file)
        const text = /\.[jt]s$/.test(file) ? readText(path) : undefined
        if (text === undefined) return []
        if (!text.startsWith(PLUGIN_MARK)) return [{ path, kind: "other", text: text.slice(0, MOST_READ) }]
        return [{ path, kind: text === builtOrNothing() ? "current" : "older", text: "" }]
      }),
    ),
  )

const MOST_READ = 1024 * 1024

const filesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).slice(0, 200)
  } catch {
    return []
  }
}

const builtOrNothing = (): string | undefined => {
  try {
    return readBuilt()
  } catch {
    return undefined
  }
}

const removeOurs = (path: string): boolean => {
  if (readText(path)?.startsWith(PLUGIN_MARK) !== true) return false
  rmSync(path)
  return true
}

const readText = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, "utf8") : undefined

const LEVELS = 8
const BUILT = [
  "opencode-plugin/meridian.js",
  "packages/opencode-plugin/dist/meridian.js",
  "node_modules/@meridian/opencode-plugin/dist/meridian.js",
] as const

const readBuilt = (): string => readFileSync(builtPlugin(), "utf8")

/** Beside this program: in its own folder when shipped, in the checkout when run from there. */
export const builtPlugin = (): string => {
  let folder = import.meta.dirname
  for (let level = 0; level < LEVELS; level += 1) {
    const found = BUILT.map((place) => join(folder, place)).find((path) => existsSync(path))
    if (found !== undefined) return found
    folder = dirname(folder)
  }
  throw new Failure("PLUGIN_NOT_BUILT")
}
