/** `.meridian/.gitignore`: ignores everything in the spaces except the agents' own files. */
import { closeSync, mkdirSync, writeSync } from "node:fs"

import { readDocument } from "./document.ts"
import { openForAppending } from "./open-file.ts"
import type { StatePlace } from "./place.ts"

const CARVE_OUT = [".spaces/**", "!.spaces/*/", "!.spaces/*/fs/", "!.spaces/*/fs/**"] as const

/** Adds the missing lines once, after the existing ones. Call while holding the lock of the spaces. */
export const ensureGitignore = (place: StatePlace): void => {
  const content = readDocument(place.gitignore) ?? ""
  const present = new Set(content.split(/\r?\n/).map((line) => line.trim()))
  const missing = CARVE_OUT.filter((line) => !present.has(line))
  if (missing.length === 0) return
  mkdirSync(place.root, { recursive: true })
  const separator = content === "" || content.endsWith("\n") ? "" : "\n"
  const file = openForAppending(place.gitignore)
  try {
    writeSync(file, `${separator}${missing.join("\n")}\n`)
  } finally {
    closeSync(file)
  }
}
