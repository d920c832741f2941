/**
 * Git knows an unchanged file by its size and its times, and it counts seconds. A file that is written twice within one second,
 * to the same size and with its old time put back, looks unchanged. So files that had just changed when they were looked at are
 * read again by the next look.
 */
import { createHash } from "node:crypto"
import { join } from "node:path"

import { machineNow } from "../port/machine-time.ts"
import { readEntry, statOf } from "./read-entry.ts"

export interface YoungFiles {
  /** Before git reads them. Relative to the top. */
  readonly note: (paths: readonly string[]) => void
  /** Those that are not what they were when they were noted. */
  readonly changed: () => readonly string[]
}

export const openYoungFiles = (top: string): YoungFiles => {
  const noted = new Map<string, string>()
  return {
    note: (paths) => {
      for (const path of paths.slice(0, MOST)) {
        const file = readYoung(join(top, path))
        if (file !== undefined) noted.set(path, file.digest)
      }
    },
    changed: () => {
      const changed: string[] = []
      for (const [path, digest] of noted) {
        const file = readYoung(join(top, path))
        if (file !== undefined && file.digest !== digest) changed.push(path)
        // From now on its time tells; so does its size.
        if (file === undefined || machineNow() - file.changedMs > YOUNG_MS) noted.delete(path)
      }
      return changed
    },
  }
}

/** What is more, or larger, takes longer to write. */
const MOST = 200
const MOST_BYTES = 1024 * 1024
const YOUNG_MS = 2_000

const readYoung = (file: string): { readonly digest: string; readonly changedMs: number } | undefined => {
  if ((statOf(file)?.size ?? 0) > MOST_BYTES) return undefined
  try {
    const found = readEntry(file)
    if (found === undefined) return undefined
    const digest = createHash("sha1").update(`${found.mode}\0`).update(found.content).digest("hex")
    return { digest, changedMs: found.changedMs }
  } catch {
    // Whoever keeps it says so.
    return undefined
  }
}
