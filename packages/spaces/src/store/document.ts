/** Small files that are replaced whole: a reader sees the old one or the new one, even after a crash. */
import { randomUUID } from "node:crypto"
import { closeSync, fstatSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"

import { LIMIT } from "../domain/limit.ts"
import { readAt } from "./log-lines.ts"
import { openForReading } from "./open-file.ts"

export const replaceFile = (path: string, content: string | Uint8Array): void => {
  // The name only has to differ from other writers' names. It exists for a moment.
  const fresh = `${path}.${randomUUID()}.new`
  try {
    writeFileSync(fresh, content, { flush: true, mode: 0o600 })
    renameSync(fresh, path)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
  syncDirectory(dirname(path))
}

/** Undefined if the file does not exist. Reads only the first `limit` bytes. */
export const readDocument = (path: string, limit: number = LIMIT.documentBytes): string | undefined => {
  const file = openForReading(path)
  if (file === undefined) return undefined
  try {
    return readAt(file, 0, Math.min(fstatSync(file).size, limit)).toString("utf8")
  } finally {
    closeSync(file)
  }
}

export const syncDirectory = (directory: string): void => {
  const handle = openSync(directory, "r")
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
