/**
 * Skills: folders with a SKILL.md, from the working directory up to the project's root, and the user's own. The model is
 * told which permitted skills exist and loads a body with the tool `skill`.
 */
import { readdirSync } from "node:fs"
import { dirname, join, relative } from "node:path"

import { readFrontMatter, sanitizeLine } from "@meridian/continuity"
import { fieldAt, matchesWildcard, type Json } from "@meridian/protocol"

import { isDeniedEverywhere, type PermissionRule } from "../domain/permission.ts"
import type { ContextSource } from "../port/context-source.ts"
import type { FileCache } from "./file-cache.ts"
import type { LookUp } from "./look-up.ts"
import { textOf } from "./value-text.ts"

export interface Skill {
  readonly name: string
  readonly description: string
  readonly path: string
  readonly body: string
}

export interface SkillShelf {
  readonly list: () => readonly Skill[]
}

/** The first folder that has a skill wins. */
const FOLDERS = [".meridian/skills", ".agents/skills", ".claude/skills", ".opencode/skills"] as const
const MOST_SKILLS = 200
const LEVELS = 16

interface Shelf {
  readonly directory: string
  /** The project's root. Default: `directory`. */
  readonly root?: string
  /** Folders of the user's own, as full paths. Links in them may lead anywhere. */
  readonly own?: readonly string[]
  readonly files: FileCache
  readonly lookUp: LookUp
}

/** A place where skills may be, and the folder that its links must not leave. */
interface Place {
  readonly path: string
  readonly inside: string | undefined
}

export const openSkillShelf = (shelf: Shelf): SkillShelf => {
  const folders = createFolderCache(shelf.lookUp)
  const skillOf = createSkillCache()
  const places = placesOf(shelf)
  return { list: () => readSkills(shelf, places, { folders, skillOf }) }
}

/** Nearest first: the first skill of a name wins. */
const placesOf = ({ directory, root = directory, own = [] }: Shelf): readonly Place[] => {
  const levels: string[] = []
  for (let level = directory; levels.length < LEVELS; level = dirname(level)) {
    levels.push(level)
    if (level === root || dirname(level) === level) break
  }
  return [
    ...levels.flatMap((level) => FOLDERS.map((name) => ({ path: join(level, name), inside: root }))),
    ...own.map((path) => ({ path, inside: undefined })),
  ]
}

/** Where users keep skills for all their projects. */
export const ownSkillFolders = (
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] => {
  const home = environment["HOME"] ?? ""
  const base = environment["XDG_CONFIG_HOME"] || (home === "" ? "" : join(home, ".config"))
  const claude = environment["CLAUDE_CONFIG_DIR"] || (home === "" ? "" : join(home, ".claude"))
  return [
    ...(base === "" ? [] : [join(base, "meridian/skills")]),
    ...(home === "" ? [] : [join(home, ".agents/skills")]),
    ...(claude === "" ? [] : [join(claude, "skills")]),
    ...(home === "" ? [] : [join(home, ".opencode/skills")]),
    ...(base === "" ? [] : [join(base, "opencode/skills")]),
  ]
}

type ReadSkill = (folder: string, path: string, text: string) => Skill

interface SkillCaches {
  readonly folders: (path: string) => readonly string[]
  readonly skillOf: ReadSkill
}

const readSkills = (
  { directory, files }: Shelf,
  places: readonly Place[],
  { folders, skillOf }: SkillCaches,
): readonly Skill[] => {
  const skills = new Map<string, Skill>()
  for (const { path: place, inside } of places)
    for (const folder of folders(place)) {
      const path = join(place, folder, "SKILL.md")
      const file = files.read(path, inside === undefined ? {} : { inside })
      if (file.kind !== "text" || skills.size >= MOST_SKILLS) continue
      const skill = skillOf(folder, inside === undefined ? path : relative(directory, path), file.text)
      if (!skills.has(skill.name)) skills.set(skill.name, skill)
    }
  return [...skills.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1))
}

export const skillsSource = (shelf: SkillShelf): ContextSource => ({
  key: "core/skills",
  observe: ({ rules }) => {
    const permitted = shelf.list().filter((skill) => !isDenied(rules, skill.name))
    if (permitted.length === 0 || isDeniedEverywhere(rules, "skill")) return { kind: "absent" }
    return { kind: "value", value: permitted.map(({ name, description }) => ({ name, description })) }
  },
  baseline: (value) => `Skills you can load with the tool skill:\n${tell(value)}`,
  update: (_previous, value) => `The skills changed. These supersede the list given before:\n${tell(value)}`,
  removal: () => "The skills listed before are no longer available.",
})

const tell = (value: Json): string =>
  Array.isArray(value)
    ? value
        .map((entry: Json) => `- ${textOf(fieldAt(entry, "name"))}: ${textOf(fieldAt(entry, "description"))}`)
        .join("\n")
    : ""

const isDenied = (rules: readonly PermissionRule[], name: string): boolean =>
  rules.findLast((rule) => matchesWildcard(rule.action, "skill") && matchesWildcard(rule.resource, name))
    ?.effect === "deny"

/** Adding or removing a name changes a folder's modification time, so most checks cost one stat. */
const createFolderCache = (lookUp: LookUp) => {
  const known = new Map<string, { readonly modifiedMs: number; readonly names: readonly string[] }>()
  return (path: string): readonly string[] => {
    const stat = lookUp(path)
    if (stat === undefined || !stat.isDirectory()) return []
    const cached = known.get(path)
    if (cached?.modifiedMs === stat.mtimeMs) return cached.names
    const names = foldersIn(path)
    known.set(path, { modifiedMs: stat.mtimeMs, names })
    return names
  }
}

const foldersIn = (path: string): readonly string[] => {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map((entry) => entry.name)
      .toSorted()
      .slice(0, MOST_SKILLS)
  } catch {
    return []
  }
}

/** An unchanged file is parsed only once. */
const createSkillCache = (): ReadSkill => {
  const known = new Map<string, { readonly text: string; readonly skill: Skill }>()
  return (folder, path, text) => {
    const cached = known.get(path)
    if (cached?.text === text) return cached.skill
    const skill = readSkill(folder, path, text)
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(path, { text, skill })
    return skill
  }
}

const MOST_KNOWN = FOLDERS.length * MOST_SKILLS
const NAME_CHARACTERS = 100
const DESCRIPTION_CHARACTERS = 500

/** A skill without a readable front matter is named after its folder. */
const readSkill: ReadSkill = (folder, path, text) => {
  const front = readFrontMatter(text)
  const fieldOfFront = (name: string): string => {
    const value = front.kind === "read" ? front.fields.get(name) : undefined
    return typeof value === "string" ? value : ""
  }
  // Both become lines of a list for the model, so neither may contain a line break.
  return {
    name:
      sanitizeLine(fieldOfFront("name"), NAME_CHARACTERS) || sanitizeLine(folder, NAME_CHARACTERS) || "skill",
    description: sanitizeLine(fieldOfFront("description"), DESCRIPTION_CHARACTERS),
    path: sanitizeLine(path),
    body: front.body,
  }
}
