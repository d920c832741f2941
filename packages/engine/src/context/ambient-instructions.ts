/**
 * Instructions found on disk: the user's own file first, then those from the working directory up to the project's root,
 * nearest first, and those beside files the session has read. AGENTS.md counts; CLAUDE.md and CONTEXT.md count only where
 * there is no AGENTS.md beside them.
 */
import { dirname, join, relative, resolve } from "node:path"

import type { ContextSource } from "../port/context-source.ts"
import type { FileCache } from "./file-cache.ts"
import { instructionTexts, instructionValue, type Instruction } from "./instruction-list.ts"

export interface AmbientOptions {
  readonly directory: string
  readonly root: string
  /** The user's own file, in the configuration folder. */
  readonly globalFile: string
  /** OPENCODE_DISABLE_PROJECT_CONFIG or our own variable: only the user's own file counts. */
  readonly projectDisabled: boolean
  readonly files: FileCache
}

/** If the first exists, the others do not count. */
const NAMES = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"] as const

export const ambientInstructions = (options: AmbientOptions): ContextSource => {
  const { directory, root, globalFile, projectDisabled, files } = options
  const folders = (projectDisabled ? [] : foldersUp(directory, root)).map((folder) => placesIn(folder, root))
  return {
    ...instructionTexts("core/instructions", "project instructions"),
    observe: () =>
      collect(
        [
          { path: globalFile, from: "your configuration" },
          ...folders.flatMap((places) => choosePlaces(files, places, root)),
        ],
        files,
        root,
      ),
  }
}

export interface ReferencePlace {
  readonly name: string
  /** An absolute path. */
  readonly path: string
}

/** Instructions found by reads. Events record them, and the model is told at the next boundary. */
export const nestedInstructions = (
  options: Pick<AmbientOptions, "root" | "files"> & { readonly references: readonly ReferencePlace[] },
): ContextSource => ({
  ...instructionTexts("core/nested-instructions", "instructions of subfolders"),
  observe: ({ discovered }) => {
    const { root, files, references } = options
    const wanted = discovered.flatMap((from): readonly Place[] => {
      const [, name, path] = IN_REFERENCE.exec(from) ?? []
      if (name === undefined || path === undefined) return [{ path: resolve(root, from), from }]
      const reference = references.find((known) => known.name === name)
      // A reference that is no longer configured has no instructions.
      return reference === undefined
        ? []
        : [{ path: resolve(reference.path, path), from, inside: reference.path }]
    })
    return collect(wanted, files, root)
  },
})

/** `@ref:name/AGENTS.md`. The project's own instruction paths never begin like this. */
const IN_REFERENCE = /^@ref:([^/]+)\/(.+)$/u

/** Instructions of a reference, from the file that was read up to the reference's root, outermost first. */
export const instructionsInReference = (
  file: string,
  { name, path: root }: ReferencePlace,
  files: FileCache,
): readonly string[] => {
  const target = resolve(root, file)
  if (relative(root, target).startsWith("..")) return []
  const folder = target === root ? root : dirname(target)
  return foldersUp(folder, root)
    .toReversed()
    .flatMap((up) => choosePlaces(files, placesIn(up, root), root))
    .map(({ from }) => `@ref:${name}/${from}`)
}

/** Instruction files between a file that was read and the working directory, outermost first, relative to the root. */
export const instructionsBeside = (
  file: string,
  options: Pick<AmbientOptions, "directory" | "root" | "files">,
): readonly string[] => {
  const { directory, root, files } = options
  const target = resolve(directory, file)
  if (relative(directory, target).startsWith("..")) return []
  return foldersUp(dirname(target), directory)
    .filter((folder) => folder !== directory)
    .toReversed()
    .flatMap((folder) => choosePlaces(files, placesIn(folder, root), root))
    .map(({ from }) => from)
}

const foldersUp = (from: string, to: string): readonly string[] => {
  if (relative(to, from).startsWith("..")) return []
  const folders: string[] = []
  for (let folder = from; ; folder = dirname(folder)) {
    folders.push(folder)
    if (folder === to || folder === dirname(folder)) return folders
  }
}

/** A path where instructions may be. */
interface Place {
  readonly path: string
  /** The path that the model is told. */
  readonly from: string
  /** The folder that must contain the file, instead of the project. */
  readonly inside?: string
}

const placesIn = (folder: string, root: string): readonly Place[] =>
  NAMES.map((name) => ({ path: join(folder, name), from: relative(root, join(folder, name)) }))

const choosePlaces = (files: FileCache, [first, ...others]: readonly Place[], root: string) => {
  const isPresent = ({ path }: Place) => files.read(path, { inside: root }).kind !== "absent"
  return first !== undefined && isPresent(first) ? [first] : others.filter(isPresent)
}

const collect = (wanted: readonly Place[], files: FileCache, root: string) => {
  const instructions: Instruction[] = []
  for (const { path, from, inside = root } of wanted) {
    const file = files.read(path, from === "your configuration" ? {} : { inside })
    if (file.kind === "unavailable") return { kind: "unavailable" } as const
    if (file.kind === "text" && file.text.trim() !== "") instructions.push({ from, text: file.text })
  }
  if (instructions.length === 0) return { kind: "absent" } as const
  return { kind: "value", value: instructionValue(instructions) } as const
}
