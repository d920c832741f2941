/** Files whose path begins with the given text, for Tab after `@`. */
import { readdirSync } from "node:fs"
import { basename, dirname, resolve } from "node:path"

const MOST_CHOICES = 200

/** Paths below `directory`, folders with a trailing slash. Hidden ones only on request. Empty if nothing can be read. */
export const filesBeginning = (directory: string, begun: string): readonly string[] => {
  const folder = begun.endsWith("/") ? begun : begun.includes("/") ? `${dirname(begun)}/` : ""
  const isHiddenAsked = basename(begun).startsWith(".") && !begun.endsWith("/")
  try {
    return readdirSync(resolve(directory, folder), { withFileTypes: true })
      .filter(({ name }) => (isHiddenAsked || !name.startsWith(".")) && !/\s/u.test(name))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`)
      .filter((path) => path.startsWith(begun))
      .toSorted()
      .slice(0, MOST_CHOICES)
  } catch {
    return []
  }
}
