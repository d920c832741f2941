/**
 * Git knows an unchanged file by its size and its times, and it counts seconds. A file looks unchanged when it is written
 * twice within one second, to the same size and with its old time restored. So each look reads again the files that had
 * just changed at the look before.
 */
import { createHash } from "node:crypto"
import { join } from "node:path"

import { machineNow } from "../port/machine-time.ts"
import { readEntry, statOf } from "./read-entry.ts"

export interface YoungFiles {
  /** Call it before git reads them. The paths are relative to the top. */
  readonly note: (paths: readonly string[]) => void
  /** The noted files that differ from what was noted. */
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
        // From now on, its time and size show a change.
        if (file === undefined || machineNow() - file.changedMs > YOUNG_MS) noted.delete(path)
      }
      return changed
    },
  }
}

/** More or larger files take longer to write. */
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
    // The code that keeps the file reports the failure.
    return undefined
  }
}
