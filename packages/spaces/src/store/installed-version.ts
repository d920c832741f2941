import { realpathSync, statSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"

/**
 * The version of a program, from how it was installed. It starts no program, so it costs a few file reads and cannot
 * hang. Undefined if it would be a guess.
 */
import { isJsonObject, type JsonObject } from "@meridian/protocol"

import { decodeJson, text } from "../domain/json-line.ts"
import { readDocument } from "./document.ts"

/** Never throws. */
export const installedVersion = (program: string): string | undefined => {
  try {
    const path = realpathSync(program)
    return packagedVersion(path) ?? versionInPath(path)
  } catch {
    // The program is gone by now, or we may not read it: we cannot tell its version.
    return undefined
  }
}

/** How many folders above the program are searched. npm packages keep theirs in `bin` or `dist`. */
const MOST_FOLDERS = 4

/**
 * The version of the npm package whose `bin` is exactly this file. Any other package.json around it says nothing
 * about it.
 */
const packagedVersion = (program: string): string | undefined => {
  let folder = dirname(program)
  for (let looked = 0; looked < MOST_FOLDERS; looked += 1) {
    const manifest = readManifest(join(folder, "package.json"))
    if (binsOf(manifest).some((bin) => resolve(folder, bin) === program)) return text(manifest, "version")
    folder = dirname(folder)
  }
  return undefined
}

type Manifest = JsonObject

const readManifest = (path: string): Manifest => {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return {}
  const fields = decodeJson(readDocument(path) ?? "")
  return isJsonObject(fields) ? fields : {}
}

const binsOf = ({ bin }: Manifest): readonly string[] =>
  (isJsonObject(bin) ? Object.values(bin) : [bin]).filter((path) => typeof path === "string")

/** `…/versions/2.1.325` (Claude's own installer), `…/Cellar/codex/0.166.0/bin/codex` (Homebrew). */
const versionInPath = (path: string): string | undefined =>
  [basename(path), /\/Cellar\/[^/]+\/([^/]+)\//.exec(path)?.[1]].find(
    (name) => name !== undefined && VERSION.test(name),
  )

const VERSION = /^\d+\.\d+\.\d+[-+.\w]*$/
