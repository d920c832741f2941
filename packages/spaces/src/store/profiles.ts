/**
 * Agent profiles and skills on disk. Folders are scanned every time (no index to go stale), in the order of
 * `search_paths`, and the first file of a name wins. Symbolic links are followed, once each.
 */
import { readdir, readFile, realpath, stat } from "node:fs/promises"
import { basename, dirname, isAbsolute, join } from "node:path"

import { Failure } from "@meridian/protocol"

import { readAgentProfile, type AgentProfile } from "../domain/agent-profile.ts"
import type { Config } from "../domain/config-option.ts"
import { splitFrontMatter } from "../domain/front-matter.ts"
import { readSkill, type Skill } from "../domain/skill-file.ts"
import { warning, type Warning } from "../domain/warning.ts"

export interface ProfileRequest {
  readonly project: string
  /** `Place.root`: what `.meridian/` in a search path means. */
  readonly root: string
  readonly home: string | undefined
  readonly config: Config
}

export interface Scan<T> {
  readonly found: readonly T[]
  /** Files that could not be read as what they should be; they are skipped. */
  readonly warnings: readonly Warning[]
}

export const agentFolders = (request: ProfileRequest): readonly string[] =>
  foldersOf(request, [
    ...request.config["search_paths.agents"],
    ...request.config["search_paths.global_agents"],
  ])

export const skillFolders = (request: ProfileRequest): readonly string[] =>
  foldersOf(request, [
    ...request.config["search_paths.skills"],
    ...request.config["search_paths.global_skills"],
  ])

/** By the name in its front matter or by its file name. A file that is found but damaged is a failure, not a miss. */
export const findAgent = async (request: ProfileRequest, name: string): Promise<AgentProfile | undefined> => {
  for (const folder of agentFolders(request)) {
    const files = (await listFolder(folder)).filter((file) => file.endsWith(".md"))
    const exact = files.filter((file) => basename(file, ".md") === name)
    for (const file of [...exact, ...files.filter((other) => !exact.includes(other))]) {
      const path = join(folder, file)
      const read = await tryRead(path, () => readAgentFile(path))
      if (read.tag === "damaged") {
        if (exact.includes(file)) throw read.failure
        continue
      }
      if (read.value.name === name || exact.includes(file)) return read.value
    }
  }
  return undefined
}

export const listAgents = async (request: ProfileRequest): Promise<Scan<AgentProfile>> => {
  const paths: string[] = []
  for (const folder of agentFolders(request))
    paths.push(
      ...(await listFolder(folder)).filter((file) => file.endsWith(".md")).map((file) => join(folder, file)),
    )
  return scan(paths, readAgentFile)
}

export const listSkills = async (request: ProfileRequest): Promise<Scan<Skill>> => {
  const seen = new Set<string>()
  const paths: string[] = []
  for (const folder of skillFolders(request)) await collectSkills(folder, 0, seen, paths)
  return scan(paths, readSkillFile)
}

/** Front matter is read with a YAML parser that is loaded by the first file that has one. */
export const readProfileFile = async (
  path: string,
): Promise<{
  readonly content: string
  readonly body: string
  readonly fields: Readonly<Record<string, unknown>>
}> => {
  const { size } = await stat(path)
  if (size > LARGEST_BYTES) throw new Failure("PROFILE_INVALID", { path, problem: "larger than 1 MiB" })
  const content = await readFile(path, "utf8")
  const { yaml, body } = splitFrontMatter(content)
  return { content, body, fields: yaml === undefined ? {} : await parseYaml(path, yaml) }
}

export const readAgentFile = async (path: string): Promise<AgentProfile> => {
  const { body, fields } = await readProfileFile(path)
  const read = readAgentProfile({ path, stem: basename(path, ".md"), fields, body })
  if (read.tag === "wrong") throw new Failure("PROFILE_INVALID", { path, problem: read.problem })
  return read.profile
}

export const readSkillFile = async (path: string): Promise<Skill> => {
  const { content, body, fields } = await readProfileFile(path)
  return readSkill({ path, folder: basename(dirname(path)), fields, content, body })
}

const LARGEST_BYTES = 1_048_576
const DEEPEST = 8
const MOST_FOLDERS = 10_000

const foldersOf = (request: ProfileRequest, entries: readonly string[]): readonly string[] => [
  ...new Set(
    entries.flatMap((entry) => {
      if (entry === "~" || entry.startsWith("~/"))
        return request.home === undefined ? [] : [join(request.home, entry.slice(1))]
      if (entry === ".meridian" || entry.startsWith(".meridian/"))
        return [join(request.root, entry.slice(9)), join(request.project, entry)]
      return [isAbsolute(entry) ? entry : join(request.project, entry)]
    }),
  ),
]

const collectSkills = async (
  folder: string,
  depth: number,
  seen: Set<string>,
  paths: string[],
): Promise<void> => {
  if (depth > DEEPEST || seen.size >= MOST_FOLDERS) return
  const real = await realpath(folder).catch(() => undefined)
  if (real === undefined || seen.has(real)) return
  seen.add(real)
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const sorted = entries.toSorted((left, right) => (left.name < right.name ? -1 : 1))
  if (sorted.some((entry) => entry.name === "SKILL.md" && !entry.isDirectory()))
    paths.push(join(folder, "SKILL.md"))
  for (const entry of sorted)
    if (
      (entry.isDirectory() || entry.isSymbolicLink()) &&
      entry.name !== "node_modules" &&
      entry.name !== ".git"
    )
      await collectSkills(join(folder, entry.name), depth + 1, seen, paths)
}

const listFolder = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted()
}

const scan = async <T extends { readonly name: string }>(
  paths: readonly string[],
  read: (path: string) => Promise<T>,
): Promise<Scan<T>> => {
  const found = new Map<string, T>()
  const warnings: Warning[] = []
  for (const path of paths) {
    const attempt = await tryRead(path, () => read(path))
    if (attempt.tag === "damaged") warnings.push(warning("PROFILE_SKIPPED", attempt.failure.facts))
    else if (!found.has(attempt.value.name)) found.set(attempt.value.name, attempt.value)
  }
  return { found: [...found.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1)), warnings }
}

type Attempt<T> =
  | { readonly tag: "read"; readonly value: T }
  | { readonly tag: "damaged"; readonly failure: Failure }

const tryRead = async <T>(path: string, read: () => Promise<T>): Promise<Attempt<T>> => {
  try {
    return { tag: "read", value: await read() }
  } catch (error) {
    if (error instanceof Failure) return { tag: "damaged", failure: error }
    if (error instanceof Error && "syscall" in error) {
      const failure = new Failure("PROFILE_INVALID", { path, problem: error.message }, { cause: error })
      return { tag: "damaged", failure }
    }
    throw error
  }
}

const parseYaml = async (path: string, source: string): Promise<Readonly<Record<string, unknown>>> => {
  const { parse, YAMLParseError } = await import("yaml")
  try {
    const value: unknown = parse(source, { maxAliasCount: 100, logLevel: "error" })
    return isFields(value) ? value : {}
  } catch (error) {
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined
    const message = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)
    const problem = `front matter is not valid YAML${line === undefined ? "" : ` (line ${line + 1})`}: ${message.replace(/ at line \d+, column \d+:?$/, "")}`
    throw new Failure("PROFILE_INVALID", { path, problem }, { cause: error })
  }
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
