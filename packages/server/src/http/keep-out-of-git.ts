/** The state folder must never be committed with the project, and no other user may read its sessions. */
import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

const LINES = ["/http-token*", "/engine.sqlite*"] as const

/** Appends the missing lines to the `.gitignore` of the state root. */
export const keepOutOfGit = (stateRoot: string): void => {
  const file = join(stateRoot, ".gitignore")
  const content = existsSync(file) ? readFileSync(file, "utf8") : ""
  const present = new Set(content.split(/\r?\n/))
  const missing = LINES.filter((line) => !present.has(line))
  if (missing.length === 0) return
  mkdirSync(stateRoot, { recursive: true })
  appendFileSync(file, `${content === "" || content.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`)
}

/** SQLite gives its other files the mode of the first. A file that exists keeps the mode its owner chose. */
export const makePrivate = (database: string): void => {
  mkdirSync(dirname(database), { recursive: true })
  closeSync(openSync(database, "a", 0o600))
}
