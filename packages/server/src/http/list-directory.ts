/** The folders in a directory, for a person who chooses where a session works. Files are not listed. */
import { opendir, realpath } from "node:fs/promises"
import { dirname, isAbsolute } from "node:path"

import { Failure } from "@meridian/protocol"

import type { DirectoryDocument } from "../contract/documents.ts"

const MOST_NAMES = 500
/** A folder with a million files must not be read completely to find a few folders. */
const MOST_ENTRIES = 20_000

export const listDirectory = async (path: string): Promise<DirectoryDocument> => {
  try {
    if (!isAbsolute(path)) throw new TypeError("not absolute")
    const real = await realpath(path)
    const { names, isCut } = await foldersIn(real)
    const parent = dirname(real)
    return { path: real, names, isCut, ...(parent === real ? {} : { parent }) }
  } catch (cause) {
    throw new Failure("LOCATION_NOT_FOUND", { directory: path }, { cause })
  }
}

const foldersIn = async (
  path: string,
): Promise<{ readonly names: readonly string[]; readonly isCut: boolean }> => {
  const names: string[] = []
  let entries = 0
  for await (const entry of await opendir(path)) {
    entries += 1
    if (entry.isDirectory()) names.push(entry.name)
    if (names.length > MOST_NAMES || entries >= MOST_ENTRIES) break
  }
  const isCut = names.length > MOST_NAMES || entries >= MOST_ENTRIES
  return { names: names.toSorted(byName).slice(0, MOST_NAMES), isCut }
}

const byName = (left: string, right: string): number =>
  Number(left.startsWith(".")) - Number(right.startsWith(".")) || left.localeCompare(right)
