/**
 * Command templates: Markdown files whose names are typed after a slash. Templates of the project win, nearest folder
 * first, then the user's own, then the built-in ones. They are read like every file that a prompt names, so links must not
 * lead outside.
 */
import { readdirSync } from "node:fs"
import { dirname, join, relative } from "node:path"

import { readFrontMatter, sanitizeLine } from "@meridian/continuity"

import type { CommandTemplate } from "../port/location.ts"
import { openVerified } from "../tool/open-verified.ts"
import { readAtMost } from "../tool/read-at-most.ts"
import { resolvePath } from "../tool/resolve-path.ts"
import { EXPAND_LIMITS } from "./limits.ts"

export interface TemplatePlaces {
  readonly directory: string
  /** The project's root. */
  readonly root: string
  /** The user's own folder, in the configuration folder. */
  readonly own: string
}

export interface Template extends CommandTemplate {
  readonly body: string
  /** Who should work on it, as its front matter says. A template cannot choose them. */
  readonly wants: { readonly agent?: string; readonly model?: string }
  /** The template is part of the project, so its shell lines run only where that is allowed. */
  readonly isOfProject: boolean
}

const FOLDERS = [".meridian/commands", ".claude/commands", ".opencode/command", ".opencode/commands"] as const

export const findTemplate = async (name: string, places: TemplatePlaces): Promise<Template | undefined> => {
  const file = `${name.replaceAll(":", "/")}.md`
  if (file.split("/").some((part) => part.startsWith("."))) return undefined
  for (const { folder, base, isOfProject } of foldersOf(places)) {
    const text = await readInside(base, join(folder, file))
    if (text === undefined) continue
    const path = isOfProject ? relative(places.directory, join(folder, file)) : join(folder, file)
    return { ...parse(name, text), path, isOfProject }
  }
  return BUILT_IN.find((template) => template.name === name)
}

/** Names and descriptions for lists: project, user, built-in. */
export const listTemplates = async (places: TemplatePlaces): Promise<readonly CommandTemplate[]> => {
  const found = new Map<string, CommandTemplate>()
  for (const { folder, base } of foldersOf(places))
    for (const file of namesIn(folder)) {
      const name = file.slice(0, -".md".length).replaceAll("/", ":")
      if (found.has(name) || found.size >= EXPAND_LIMITS.templates) continue
      const text = await readInside(base, join(folder, file))
      if (text === undefined) continue
      const { description } = parse(name, text)
      found.set(name, { name, description, path: relative(places.directory, join(folder, file)) })
    }
  for (const { name, description, path } of BUILT_IN)
    if (!found.has(name)) found.set(name, { name, description, path })
  return [...found.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1))
}

interface Folder {
  readonly folder: string
  /** Every file that is read must be below this folder. */
  readonly base: string
  readonly isOfProject: boolean
}

const foldersOf = ({ directory, root, own }: TemplatePlaces): readonly Folder[] => {
  const ups = [directory]
  for (let folder = directory; folder !== root && folder !== dirname(folder);) {
    folder = dirname(folder)
    ups.push(folder)
  }
  return [
    ...ups.flatMap((up) =>
      FOLDERS.map((folder) => ({ folder: join(up, folder), base: root, isOfProject: true })),
    ),
    { folder: own, base: own, isOfProject: false },
  ]
}

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md") && !name.split("/").some((part) => part.startsWith(".")))
      .toSorted()
      .slice(0, EXPAND_LIMITS.templates)
  } catch {
    return []
  }
}

/** Undefined when there is no such file, or it is outside `base`. */
const readInside = async (base: string, file: string): Promise<string | undefined> => {
  try {
    const path = await resolvePath({ root: base, directory: base }, file)
    if (path.external) return undefined
    await using opened = await openVerified(path)
    if (!opened.stats.isFile()) return undefined
    return (await readAtMost(opened.handle, EXPAND_LIMITS.templateBytes)).toString("utf8")
  } catch {
    return undefined
  }
}

const DESCRIPTION_CHARACTERS = 300
const NAME_CHARACTERS = 200

const parse = (name: string, text: string): Pick<Template, "name" | "description" | "body" | "wants"> => {
  const front = readFrontMatter(text)
  const said = (field: string, most: number): string => {
    const value = front.kind === "read" ? front.fields.get(field) : undefined
    return sanitizeLine(typeof value === "string" ? value : "", most)
  }
  const [agent, model] = [said("agent", NAME_CHARACTERS), said("model", NAME_CHARACTERS)]
  return {
    name,
    description: said("description", DESCRIPTION_CHARACTERS),
    body: front.body.trim(),
    wants: { ...(agent === "" ? {} : { agent }), ...(model === "" ? {} : { model }) },
  }
}

const BUILT_IN: readonly Template[] = [
  {
    name: "init",
    path: "",
    description: "Study the project and write AGENTS.md.",
    isOfProject: false,
    wants: {},
    body: [
      "Study this project and write what a coding agent must know of it into AGENTS.md at its root.",
      "Look first: the manifest and the lock files, the README, how the tests and the checks are started, where the parts lie, what CI runs. Read instructions that are there for other tools (CLAUDE.md, .cursorrules, .github/copilot-instructions.md) and take over what still holds.",
      "Then write AGENTS.md: the commands to build, check and test, one test alone included; the layout, in a few lines; the rules of this code that a newcomer would break. Leave out what anyone can see at once, and what is true of every project. Keep it below about 60 lines.",
      "Where AGENTS.md exists already, improve it and keep what people wrote by hand. Try the commands you write down, where that is harmless.",
      "$ARGUMENTS",
    ].join("\n\n"),
  },
]
