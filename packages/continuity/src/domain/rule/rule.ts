/**
 * A rule: a markdown text with conditions in its front matter. Without conditions it always applies. With conditions it
 * applies when any of them holds (`match: any`, the default) or all of them (`match: all`).
 *
 *   globs      a path of the working set matches (also Cursor's `globs: a,b`, Claude's `paths`, Copilot's `applyTo`)
 *   keywords   the latest prompt has a word that begins like this; letter case is ignored
 *   tools      a tool with that id is available
 *   model, branch          equal, or match as a glob
 *   agent, command         equal; a command with or without its slash
 *   project    node, python, go, rust, monorepo, browser-extension
 *   os, ci     where the agent runs
 *
 * Cursor's `alwaysApply: true` makes a rule unconditional. `alwaysApply: false` without globs makes it a rule that applies
 * only on request, which never happens. Any other fault in the front matter makes the rule inactive, with the reason.
 */

import { cleanBody } from "./clean-body.ts"
import { readFrontMatter, splitList } from "./front-matter.ts"
import { compileGlob, type Glob } from "./glob.ts"
import { isMisspelt } from "./misspelt.ts"

export interface Rule {
  /** Relative to its rules folder. This is what the reader sees. */
  readonly path: string
  /** The name of its rules folder, shown when two folders contain the same path. */
  readonly folder: string
  readonly body: string
  readonly activation: Activation
}

export type Activation =
  | { readonly kind: "always" }
  | { readonly kind: "when"; readonly match: "any" | "all"; readonly conditions: Conditions }
  | { readonly kind: "never"; readonly reason: string; readonly warn: boolean }

export interface Conditions {
  readonly globs?: readonly Glob[]
  readonly keywords?: readonly string[]
  readonly tools?: readonly string[]
  readonly model?: readonly Pattern[]
  readonly branch?: readonly Pattern[]
  readonly agent?: readonly string[]
  readonly command?: readonly string[]
  readonly project?: readonly string[]
  readonly os?: readonly string[]
  readonly ci?: boolean
}

export interface Pattern {
  readonly text: string
  readonly glob: Glob
}

/**
 * Rules that always apply come before those that come and go, so that a change leaves the beginning of the text unchanged.
 */
export const stableFirst = (rules: readonly Rule[]): readonly Rule[] => [
  ...rules.filter(({ activation }) => activation.kind === "always"),
  ...rules.filter(({ activation }) => activation.kind !== "always"),
]

export const RULE_LIMITS = { items: 64, itemLength: 512 } as const

const LISTS = ["keywords", "tools", "agent", "command", "project", "os"] as const
const PATTERNS = ["model", "branch"] as const
const GLOB_KEYS = ["globs", "paths", "applyTo"] as const
const KEYS: readonly string[] = [...LISTS, ...PATTERNS, ...GLOB_KEYS, "ci", "match", "alwaysApply"]

export const readRule = (file: { path: string; folder: string; text: string }): Rule => {
  const matter = readFrontMatter(file.text)
  const { path, folder } = file
  const body = cleanBody(matter.body)
  const rule = (activation: Activation): Rule => ({ path, folder, body, activation })
  switch (matter.kind) {
    case "absent":
      return rule({ kind: "always" })
    case "malformed":
      return rule({ kind: "never", reason: matter.reason, warn: true })
    case "read":
      return rule(readActivation(matter.fields))
  }
}

const readActivation = (fields: ReadonlyMap<string, unknown>): Activation => {
  try {
    return activationOf(fields)
  } catch (error) {
    if (error instanceof Malformed) return { kind: "never", reason: error.message, warn: true }
    throw error
  }
}

/** Carries the reason out of the nested readers below. It never leaves this module. */
class Malformed extends Error {}

const activationOf = (fields: ReadonlyMap<string, unknown>): Activation => {
  // How YAML reads `globs: []: x`.
  if (fields.has("")) throw new Malformed("a value is not readable")
  for (const key of fields.keys()) {
    const meant = KEYS.includes(key) ? undefined : KEYS.find((known) => isMisspelt(key, known))
    if (meant !== undefined) throw new Malformed(`unknown key "${clip(key)}", did you mean "${meant}"?`)
  }
  const globs = GLOB_KEYS.flatMap((key) => readList(fields, key)).map((text) => readGlob(text))
  const conditions: Conditions = {
    ...(globs.length === 0 ? {} : { globs }),
    ...readLists(fields),
    ...readPatterns(fields),
    ...readFlag(fields, "ci"),
  }
  const match = readMatch(fields.get("match"))
  const always = readFlag(fields, "alwaysApply").alwaysApply
  if (always === true) return { kind: "always" }
  if (Object.keys(conditions).length > 0) return { kind: "when", match, conditions }
  if (always === false)
    return { kind: "never", reason: "alwaysApply is false and no condition is given", warn: false }
  return { kind: "always" }
}

const readLists = (fields: ReadonlyMap<string, unknown>): Conditions =>
  Object.fromEntries(
    LISTS.flatMap((key) => {
      const items = readList(fields, key)
      return items.length === 0 ? [] : [[key, items] as const]
    }),
  )

const readPatterns = (fields: ReadonlyMap<string, unknown>): Conditions =>
  Object.fromEntries(
    PATTERNS.flatMap((key) => {
      const items = readList(fields, key)
      return items.length === 0 ? [] : [[key, items.map((text) => ({ text, glob: readGlob(text) }))] as const]
    }),
  )

/** A list of texts, or one text with commas. An empty value counts as an absent key. */
const readList = (fields: ReadonlyMap<string, unknown>, key: string): readonly string[] => {
  const value = fields.get(key)
  if (value === undefined || value === null) return []
  const items = Array.isArray(value) ? value : typeof value === "string" ? splitList(value) : [value]
  if (items.length > RULE_LIMITS.items)
    throw new Malformed(`"${key}" has more than ${RULE_LIMITS.items} items`)
  const texts = items.map((item: unknown) => {
    if (typeof item === "number") return String(item)
    if (typeof item === "string") return item.trim()
    throw new Malformed(`"${key}" must be a list of texts`)
  })
  if (texts.some((text) => text.length > RULE_LIMITS.itemLength))
    throw new Malformed(`"${key}" has an item longer than ${RULE_LIMITS.itemLength} characters`)
  return texts.filter((text) => text !== "")
}

const readGlob = (text: string): Glob => {
  const compiled = compileGlob(text)
  if (compiled.kind === "glob") return compiled.glob
  throw new Malformed(`the glob "${clip(text)}" ${compiled.reason}`)
}

const readFlag = <Key extends "ci" | "alwaysApply">(
  fields: ReadonlyMap<string, unknown>,
  key: Key,
): { readonly [name in Key]?: boolean } => {
  const value = fields.get(key)
  if (value === undefined || value === null) return {}
  if (typeof value !== "boolean") throw new Malformed(`"${key}" must be true or false`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a computed key widens to an index signature
  return { [key]: value } as { readonly [name in Key]: boolean }
}

const readMatch = (value: unknown): "any" | "all" => {
  if (value === undefined || value === null) return "any"
  if (value === "any" || value === "all") return value
  throw new Malformed(`"match" must be any or all`)
}

const clip = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}...` : text)
