/** The session files of harnesses with one file a session. Read-only: follows no links and opens nothing. */
import { readdirSync, statSync, type Dirent } from "node:fs"
import { join } from "node:path"

import type { HarnessPlaces } from "./harness-places.ts"

export interface KeptFile {
  readonly keeper: "claude" | "codex" | "pi"
  readonly path: string
  readonly bytes: number
  readonly changed: number
}

/** Depth below a harness's folder, and files in total. */
const DEEPEST = 6
const MOST_FILES = 200_000

/** The last changed first: if there is no time for all, those matter most. */
export const keptFiles = ({ files }: HarnessPlaces): readonly KeptFile[] => {
  const found: KeptFile[] = []
  const look = (keeper: KeptFile["keeper"], folder: string, depth: number): void => {
    for (const entry of entriesOf(folder)) {
      if (found.length >= MOST_FILES) return
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (depth > 0 && !isInner(keeper, entry.name)) look(keeper, path, depth - 1)
      } else if (entry.isFile() && isSession(keeper, entry.name)) {
        const stat = statSync(path, { throwIfNoEntry: false })
        if (stat !== undefined) found.push({ keeper, path, bytes: stat.size, changed: stat.mtimeMs })
      }
    }
  }
  for (const { keeper, folder } of files) look(keeper, folder, DEEPEST)
  return found.sort((one, other) => other.changed - one.changed)
}

const entriesOf = (folder: string): readonly Dirent[] => {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // The folder is missing, or we may not read it.
    return []
  }
}

/** Conversations among Claude's agents are not sessions that a person could continue. */
const isInner = (keeper: KeptFile["keeper"], name: string): boolean =>
  keeper === "claude" && (name === "subagents" || name === "tool-results")

const isSession = (keeper: KeptFile["keeper"], name: string): boolean => {
  if (!name.endsWith(".jsonl")) return false
  if (keeper === "claude") return !name.startsWith("agent-")
  return keeper === "pi" || name.startsWith("rollout-")
}
