/** Keeps the state folder out of the project's commits, and its sessions unreadable for other users. */
import { closeSync, constants, mkdirSync, openSync, readFileSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"

import { Failure } from "@meridian/protocol"

const LINES = ["/http-token*", "/engine.sqlite*"] as const

/** Appends the missing lines to the `.gitignore` of the state root. */
export const keepOutOfGit = (stateRoot: string): void => {
  mkdirSync(stateRoot, { recursive: true })
  const file = openPlain(join(stateRoot, ".gitignore"))
  try {
    const content = readFileSync(file, "utf8")
    const present = new Set(content.split(/\r?\n/))
    const missing = LINES.filter((line) => !present.has(line))
    const gap = content === "" || content.endsWith("\n") ? "" : "\n"
    if (missing.length > 0) writeSync(file, `${gap}${missing.join("\n")}\n`)
  } finally {
    closeSync(file)
  }
}

/** Follows no link: a folder from elsewhere could lead us to any file of the user. */
const openPlain = (path: string): number => {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  try {
    return openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o644)
  } catch (cause) {
    throw new Failure("STATE_NOT_PLAIN", { path }, { cause })
  }
}

/** SQLite gives its other files the mode of the first. An existing file keeps the mode its owner chose. */
export const makePrivate = (database: string): void => {
  mkdirSync(dirname(database), { recursive: true })
  closeSync(openSync(database, "a", 0o600))
}
