/**
 * Configured instructions: a file, a glob, or an address. Each entry is a separate source. They follow the instructions
 * found on disk, in the order of the configuration, so they carry more weight.
 */
import { globSync } from "node:fs"
import { homedir } from "node:os"
import { relative, resolve } from "node:path"

import type { Observed } from "../domain/context.ts"
import type { ContextSource } from "../port/context-source.ts"
import type { FileCache } from "./file-cache.ts"
import { instructionTexts, instructionValue, type Instruction } from "./instruction-list.ts"
import type { UrlReader } from "./url-reader.ts"

const MOST_FILES = 100

export const configuredInstructions = (
  entries: readonly string[],
  options: Places & { readonly urls: UrlReader },
): readonly ContextSource[] =>
  entries.map((entry) => ({
    ...instructionTexts(`config/instructions:${entry}`, `instructions of ${entry}`),
    observe: () => (isAddress(entry) ? readAddress(entry, options.urls) : readFiles(entry, options)),
  }))

const isAddress = (entry: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(entry)

const readAddress = async (entry: string, urls: UrlReader): Promise<Observed> => {
  const answer = await urls.read(entry)
  if (answer.kind !== "text") return answer
  return answer.text.trim() === ""
    ? { kind: "absent" }
    : { kind: "value", value: instructionValue([{ from: entry, text: answer.text }]) }
}

interface Places {
  readonly directory: string
  /** The project's root. A relative entry that the directory lacks is looked for here. */
  readonly root: string
  readonly files: FileCache
}

const readFiles = (entry: string, { directory, root, files }: Places): Observed => {
  const bases = directory === root ? [directory] : [directory, root]
  for (const base of bases) {
    const found = readBelow(entry, base, files)
    if (found.kind !== "absent") return found
  }
  return { kind: "absent" }
}

const readBelow = (entry: string, directory: string, files: FileCache): Observed => {
  const pattern = entry.startsWith("~/") ? resolve(homedir(), entry.slice(2)) : entry
  // An entry inside the project must not lead to a file outside it through a link.
  const bounds = leadsElsewhere(entry) ? undefined : { inside: directory }
  const paths = /[*?[{]/.test(pattern)
    ? globSync(pattern, { cwd: directory }).toSorted().slice(0, MOST_FILES)
    : [pattern]
  const found: Instruction[] = []
  for (const path of paths) {
    const absolute = resolve(directory, path)
    const file = files.read(absolute, bounds)
    if (file.kind === "unavailable") return { kind: "unavailable" }
    if (file.kind === "text" && file.text.trim() !== "")
      found.push({ from: relative(directory, absolute) || path, text: file.text })
  }
  return found.length === 0 ? { kind: "absent" } : { kind: "value", value: instructionValue(found) }
}

const leadsElsewhere = (entry: string): boolean =>
  /^[/~\\]|^[A-Za-z]:/.test(entry) || entry.split(/[/\\{},]/).includes("..")
