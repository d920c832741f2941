/** Files whose path begins so, for Tab behind `@`. */
import { readdirSync } from "node:fs"
import { basename, dirname, resolve } from "node:path"

const MOST_CHOICES = 200

/** Paths below `directory`; folders end with a slash. Hidden ones only when they are asked for; none where nothing can be read. */
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
