/**
 * Limits and prices of models: the bundled snapshot, overlaid by the copy that `meridian models update` keeps for
 * this user in `$XDG_DATA_HOME/meridian/models.txt` (by default in `~/.local/share`).
 */
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname } from "node:path"

import { mergeLimits, parseLimits, type LimitsCatalogue } from "../domain/model-limits.ts"
import { userDataFile } from "./user-place.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** Undefined if this user has no home. */
export const limitsPath = (env: Environment): string | undefined => userDataFile(env, "models.txt")

export const loadLimits = async (env: Environment): Promise<LimitsCatalogue> => {
  const [{ MODEL_SNAPSHOT }, kept] = await Promise.all([
    import("../domain/model-snapshot.ts"),
    readKept(limitsPath(env)),
  ])
  return mergeLimits(parseLimits(MODEL_SNAPSHOT), kept)
}

/** Writes beside the file, then renames over it: a reader sees the old copy or the new one, whole. */
export const saveLimits = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  const beside = `${path}.${process.pid}.tmp`
  try {
    await writeFile(beside, text)
    await rename(beside, path)
  } finally {
    await rm(beside, { force: true })
  }
}

/** A copy is about 300 KB. A far larger file is not ours. */
const LARGEST_BYTES = 8_388_608

/** An unreadable copy is ignored: the snapshot is always there. */
const readKept = async (path: string | undefined): Promise<LimitsCatalogue | undefined> => {
  if (path === undefined) return undefined
  try {
    if ((await stat(path)).size > LARGEST_BYTES) return undefined
    return parseLimits(await readFile(path, "utf8"))
  } catch {
    return undefined
  }
}
