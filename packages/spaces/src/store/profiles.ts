/**
 * Agent profiles and skills on disk. Folders are scanned every time (no index to go stale), in the order of
 * `search_paths`, and the first file of a name wins. A symbolic link is followed once, if it stays inside its root:
 * the project for the project's folders, the user's home for the user's own.
 */
import { opendirSync } from "node:fs"
import { basename, isAbsolute, join } from "node:path"

import { findInside, isInside, resolveRoot } from "@meridian/continuity/files"
import { Failure } from "@meridian/protocol"

import type { AgentProfile } from "../domain/agent-profile.ts"
import type { Config } from "../domain/config-option.ts"
import { LIMIT } from "../domain/limit.ts"
import type { Skill } from "../domain/skill-file.ts"
import { warning, type Warning } from "../domain/warning.ts"
import {
  openReadingBudget,
  readAgentFile,
  readSkillFile,
  type ProfilePath,
  type ReadingBudget,
} from "./profile-file.ts"

export interface ProfileRequest {
  readonly project: string
  /** `StatePlace.root`: what `.meridian/` in a search path means. */
  readonly root: string
  readonly home: string | undefined
  readonly config: Config
}

export interface Scan<T> {
  readonly found: readonly T[]
  /** Files that could not be read as profiles or skills. They are skipped. */
  readonly warnings: readonly Warning[]
}

/** Finds it by the name in its front matter or by its file name. A damaged file is a failure, not a miss. */
export const findAgent = async (request: ProfileRequest, name: string): Promise<AgentProfile | undefined> => {
  const budget = openReadingBudget()
  for (const folder of agentFolders(request)) {
    const { files } = listAgentFiles(folder)
    const exact = files.filter(({ path }) => basename(path, ".md") === name)
    for (const file of [...exact, ...files.filter((other) => !exact.includes(other))]) {
      const read = await tryRead(file, budget, readAgentFile)
      if (read.tag === "damaged") {
        if (exact.includes(file)) throw read.failure
        continue
      }
      if (read.value?.name === name || exact.includes(file)) return read.value
    }
  }
  return undefined
}

export const listAgents = (request: ProfileRequest): Promise<Scan<AgentProfile>> => {
  const listed = agentFolders(request).map(listAgentFiles)
  return scan(
    listed.flatMap(({ files }) => files),
    { read: readAgentFile, warnings: listed.flatMap(({ warnings }) => warnings) },
  )
}

export const listSkills = (request: ProfileRequest): Promise<Scan<Skill>> => {
  const walk: Walk = { seen: new Set(), files: [], left: LIMIT.profileFolders }
  for (const folder of skillFolders(request)) collectSkills(folder, 0, walk)
  return scan(walk.files, { read: readSkillFile, warnings: [] })
}

/** A recorded path may lie in the project, in its state, or in a folder that is searched anyway. */
export const recordedPath = (path: string, request: ProfileRequest): ProfilePath | undefined => {
  if (!isAbsolute(path)) return undefined
  const own = [request.project, request.root].find((root) => isInside(root, path))
  if (own !== undefined) return { path, root: own }
  const searched = [...agentFolders(request), ...skillFolders(request)]
  const found = searched.find(({ folder }) => isInside(folder, path))
  return found === undefined ? undefined : { path, root: found.root }
}

interface Folder {
  readonly folder: string
  readonly root: string
}

const agentFolders = (request: ProfileRequest): readonly Folder[] =>
  foldersOf(request, [
    ...request.config["search_paths.agents"],
    ...request.config["search_paths.global_agents"],
  ])

const skillFolders = (request: ProfileRequest): readonly Folder[] =>
  foldersOf(request, [
    ...request.config["search_paths.skills"],
    ...request.config["search_paths.global_skills"],
  ])

const foldersOf = (request: ProfileRequest, entries: readonly string[]): readonly Folder[] => {
  const folders = entries.flatMap((entry) => {
    if (entry === "~" || entry.startsWith("~/"))
      return request.home === undefined ? [] : [join(request.home, entry.slice(1))]
    if (entry === ".meridian" || entry.startsWith(".meridian/"))
      return [join(request.root, entry.slice(9)), join(request.project, entry)]
    return [isAbsolute(entry) ? entry : join(request.project, entry)]
  })
  const roots = [request.project, request.root, request.home ?? ""].filter((root) => root !== "")
  return [...new Set(folders)].map((folder) => ({
    folder,
    // A folder elsewhere that the configuration names is its own root.
    root: roots.find((root) => isInside(root, folder)) ?? folder,
  }))
}

const listAgentFiles = (
  folder: Folder,
): { readonly files: readonly ProfilePath[]; readonly warnings: readonly Warning[] } => {
  const { entries, cut } = entriesIn(folder)
  const files = entries
    .filter(({ name, kind }) => kind !== "folder" && name.endsWith(".md"))
    .map(({ name }) => ({ path: join(folder.folder, name), root: folder.root }))
  const problem = `it holds more than ${LIMIT.folderEntries} files; the rest is not looked at`
  return { files, warnings: cut ? [warning("PROFILE_SKIPPED", { path: folder.folder, problem })] : [] }
}

interface Walk {
  readonly seen: Set<string>
  readonly files: ProfilePath[]
  left: number
}

const collectSkills = (place: Folder, depth: number, walk: Walk): void => {
  if (depth > LIMIT.profileDepth || walk.left <= 0) return
  const base = resolveRoot(place.root)
  const found = base === undefined ? undefined : findInside(base, place.folder)
  if (found?.kind !== "found" || walk.seen.has(found.real)) return
  walk.seen.add(found.real)
  walk.left -= 1
  const { entries } = entriesIn(place)
  if (entries.some(({ name, kind }) => name === "SKILL.md" && kind !== "folder"))
    walk.files.push({ path: join(place.folder, "SKILL.md"), root: place.root })
  for (const { name, kind } of entries)
    if (kind !== "file" && name !== "node_modules" && name !== ".git")
      collectSkills({ ...place, folder: join(place.folder, name) }, depth + 1, walk)
}

interface Entry {
  readonly name: string
  readonly kind: "file" | "folder" | "link"
}

/** Sorted by name. Empty for anything that is not a folder or leads out of its root. */
const entriesIn = ({
  folder,
  root,
}: Folder): { readonly entries: readonly Entry[]; readonly cut: boolean } => {
  const base = resolveRoot(root)
  const found = base === undefined ? undefined : findInside(base, folder)
  if (found?.kind !== "found" || !found.stats.isDirectory()) return { entries: [], cut: false }
  const entries: Entry[] = []
  try {
    using open = opendirSync(found.real)
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
      if (entries.length === LIMIT.folderEntries) return { entries: inOrder(entries), cut: true }
      const kind = entry.isDirectory() ? "folder" : entry.isSymbolicLink() ? "link" : "file"
      entries.push({ name: entry.name, kind })
    }
  } catch {
    // We may not read it, so to us it is empty.
    return { entries: [], cut: false }
  }
  return { entries: inOrder(entries), cut: false }
}

const inOrder = (entries: readonly Entry[]): readonly Entry[] =>
  entries.toSorted((left, right) => (left.name < right.name ? -1 : 1))

type Reader<T> = (place: ProfilePath, budget: ReadingBudget) => Promise<T | undefined>

const scan = async <T extends { readonly name: string }>(
  files: readonly ProfilePath[],
  options: { readonly read: Reader<T>; readonly warnings: readonly Warning[] },
): Promise<Scan<T>> => {
  const found = new Map<string, T>()
  const warnings = [...options.warnings]
  const budget = openReadingBudget()
  for (const file of files) {
    const attempt = await tryRead(file, budget, options.read)
    if (attempt.tag === "damaged") warnings.push(warning("PROFILE_SKIPPED", attempt.failure.facts))
    else if (attempt.value !== undefined && !found.has(attempt.value.name))
      found.set(attempt.value.name, attempt.value)
  }
  return { found: [...found.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1)), warnings }
}

type Attempt<T> =
  | { readonly tag: "read"; readonly value: T | undefined }
  | { readonly tag: "damaged"; readonly failure: Failure }

const tryRead = async <T>(file: ProfilePath, budget: ReadingBudget, read: Reader<T>): Promise<Attempt<T>> => {
  try {
    return { tag: "read", value: await read(file, budget) }
  } catch (error) {
    if (error instanceof Failure) return { tag: "damaged", failure: error }
    throw error
  }
}
