/**
 * Finds an ignored file that git would delete to make room: a file where a folder must be, or the content of a folder where
 * the file must be. No tree holds it, so nothing could restore it.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"

import { statOf } from "./read-entry.ts"

export const findObstacle = (
  top: string,
  path: string,
  /** Kept files, which are no obstacle. */
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
