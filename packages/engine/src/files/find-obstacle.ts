/**
 * What git would delete to make room for a file, because it is ignored: a file in the place of one of its folders, or what is in
 * a folder in its own place. It is in no tree, so nobody could bring it back.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"

import { statOf } from "./read-entry.ts"

export const findObstacle = (
  top: string,
  path: string,
  /** What goes away anyway. */
  isKept: (path: string) => boolean,
): string | undefined => {
  const parts = path.split("/")
  for (let length = 1; length < parts.length; length += 1) {
    const above = parts.slice(0, length).join("/")
    const stat = statOf(join(top, above))
    if (stat === undefined) return undefined
    if (!stat.isDirectory()) return isKept(above) ? undefined : above
  }
  if (statOf(join(top, path))?.isDirectory() !== true) return undefined
  for (const entry of readdirSync(join(top, path), { recursive: true, withFileTypes: true })) {
    const inside = join(entry.parentPath, entry.name).slice(top.length + 1)
    if (!entry.isDirectory() && !isKept(inside)) return inside
  }
  return undefined
}
