/** The token and the database must never be committed with the project they lie in. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const LINES = ["/http-token*", "/engine.sqlite*"] as const

/** Adds the lines that are missing to `.gitignore` of the state root, behind what it says already. */
export const keepOutOfGit = (stateRoot: string): void => {
  const file = join(stateRoot, ".gitignore")
  const content = existsSync(file) ? readFileSync(file, "utf8") : ""
  const present = new Set(content.split(/\r?\n/))
  const missing = LINES.filter((line) => !present.has(line))
  if (missing.length === 0) return
  mkdirSync(stateRoot, { recursive: true })
  appendFileSync(file, `${content === "" || content.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`)
}
