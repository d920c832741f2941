/** The project a command was started in: the nearest parent folder that git knows, else the folder itself. */
import { existsSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

const LEVELS = 64

export const projectRoot = (cwd: string): string => {
  const start = resolve(cwd)
  let folder = start
  for (let level = 0; level < LEVELS; level += 1) {
    if (existsSync(join(folder, ".git"))) return folder
    const parent = dirname(folder)
    if (parent === folder) break
    folder = parent
  }
  return start
}
