/**
 * Rule files on disk. An open shelf remembers what it has read and checks again at every call, by modification time and
 * size. New, changed and removed files count at the next request, and an unchanged one costs one check.
 */
import { join } from "node:path"

import { readRule, type Rule } from "../domain/rule/rule.ts"
import { openGuardedReader, type GuardedReader } from "./guarded-reader.ts"
import type { Links } from "./open-inside.ts"
import { openReadBudget, type ReadBudget } from "./read-budget.ts"

export interface RulesFolder {
  /** Absolute. Nothing outside it is read. */
  readonly root: string
  /** The folder of rules, relative to the root. */
  readonly path: string
  /** `anywhere` for the user's own folders. The files of a project must stay inside it. */
  readonly links?: Links
}

export interface RulesReading {
  readonly rules: readonly Rule[]
  /** Files that are unusable, one line each. The same file always gives the same line. */
  readonly warnings: readonly string[]
}

export interface RuleShelf {
  /** Never throws. Takes at most about the given time, then continues with what it knew. */
  readonly read: (timeMs?: number) => RulesReading
}

export const RULE_FILE_LIMITS = {
  files: 500,
  depth: 8,
  bytes: 64 * 1024,
  timeMs: 60,
  patientOperations: 120,
} as const

interface Known {
  readonly modifiedMs: number
  readonly bytes: number
  readonly rule: Rule | undefined
  readonly warning: string | undefined
}

const UNREAD: Known = { modifiedMs: -1, bytes: -1, rule: undefined, warning: undefined }

/** Global folders first, then those of the project, nearer ones last. The order of the list is the order of the rules. */
export const openRuleShelf = (folders: () => readonly RulesFolder[], clock?: () => number): RuleShelf => {
  const known = new Map<string, Known>()
  return {
    read: (timeMs = RULE_FILE_LIMITS.timeMs) => {
      const budget = openReadBudget({
        limits: {
          timeMs: Math.min(timeMs, RULE_FILE_LIMITS.timeMs),
          patientOperations: RULE_FILE_LIMITS.patientOperations,
          lineLength: RULE_FILE_LIMITS.bytes,
        },
        ...(clock === undefined ? {} : { clock }),
      })
      const seen = new Set<string>()
      const unlisted: string[] = []
      const rules: Rule[] = []
      const warnings: string[] = []
      for (const folder of folders()) {
        const reader = openGuardedReader(folder.root, budget, folder.links)
        const found = findRuleFiles(reader, folder)
        warnings.push(...found.warnings)
        unlisted.push(...found.unlisted.map((path) => join(folder.root, path)))
        for (const path of found.files) {
          const key = join(folder.root, folder.path, path)
          if (seen.has(key)) continue
          seen.add(key)
          const file = readOne(reader, folder, path, known.get(key), budget)
          known.set(key, file)
          if (file.rule !== undefined) rules.push(file.rule)
          if (file.warning !== undefined) warnings.push(file.warning)
        }
      }
      // What could not be listed this time (no time, no file handle) is not gone.
      if (budget.spendOperation() !== undefined) unlisted.push("")
      for (const [key, { rule }] of known) {
        if (seen.has(key)) continue
        if (!unlisted.some((folder) => key.startsWith(folder))) known.delete(key)
        else if (rule !== undefined) rules.push(rule)
      }
      return { rules, warnings }
    },
  }
}

const readOne = (
  reader: GuardedReader,
  folder: RulesFolder,
  path: string,
  before: Known | undefined,
  budget: ReadBudget,
): Known => {
  const place = join(folder.path, path)
  const refuse = (reason: string): Known => {
    // Running out of time says nothing about the file. What was known stays; the rest is read at a later request.
    if (budget.spendOperation() !== undefined) return before ?? UNREAD
    return { ...UNREAD, warning: `rule ${path} is not read: ${reason}` }
  }
  const look = reader.look(place)
  if ("reason" in look) return refuse(look.reason)
  if (look.kind === "folder") return refuse("not a file")
  const { modifiedMs, bytes } = look
  if (before !== undefined && before.modifiedMs === modifiedMs && before.bytes === bytes) return before
  const file = reader.read(place, { maxBytes: RULE_FILE_LIMITS.bytes })
  if (file.kind !== "text") return refuse(file.reason)
  const rule = readRule({ path, folder: folder.path === "." ? folder.root : folder.path, text: file.text })
  return { modifiedMs, bytes, rule, warning: warningOf(rule, file.truncated) }
}

const warningOf = (rule: Rule, truncated: boolean): string | undefined => {
  if (rule.activation.kind === "never" && rule.activation.warn)
    return `rule ${rule.path} is inactive: ${rule.activation.reason}`
  return truncated
    ? `rule ${rule.path} is longer than ${RULE_FILE_LIMITS.bytes} bytes, the rest is left out`
    : undefined
}

const findRuleFiles = (
  reader: GuardedReader,
  { path: top, links }: RulesFolder,
): {
  readonly files: readonly string[]
  readonly warnings: readonly string[]
  readonly unlisted: readonly string[]
} => {
  const files: string[] = []
  const warnings: string[] = []
  const unlisted: string[] = []
  const visit = (folder: string, depth: number): void => {
    const listed = reader.list(join(top, folder))
    if (listed.kind === "refused") {
      unlisted.push(join(top, folder))
      warnings.push(`rules folder ${join(top, folder)} is not read: ${listed.reason}`)
    }
    if (listed.kind !== "entries") return
    for (const { name, type } of listed.entries) {
      if (name.startsWith(".")) continue
      const path = folder === "" ? name : `${folder}/${name}`
      // A link to a file counts when it stays inside. A link to a folder is followed only in the user's own folders, where
      // the depth limit ends a loop.
      const isFolder =
        type === "folder" ||
        (type === "link" && links === "anywhere" && reader.look(join(top, path)).kind === "folder")
      if (isFolder && depth < RULE_FILE_LIMITS.depth) visit(path, depth + 1)
      else if (!isFolder && /\.mdc?$/i.test(name)) {
        if (files.length === RULE_FILE_LIMITS.files) {
          warnings.push(
            `rules folder ${top} has more than ${RULE_FILE_LIMITS.files} rules, the rest is left out`,
          )
          return
        }
        files.push(path)
      }
    }
  }
  visit("", 0)
  return { files, warnings, unlisted }
}
