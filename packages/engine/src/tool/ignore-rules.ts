/**
 * `.gitignore` files as git reads them, to the extent that a search needs: negation, anchors, directory-only, last rule
 * wins.
 */
import { compileGlob } from "./glob-pattern.ts"
import { TOOL_LIMITS } from "./limits.ts"

export interface IgnoreRules {
  /** `path` is relative to the start of the search. The rules know where their file is. */
  readonly ignores: (path: string, isDirectory: boolean) => boolean
  /** The rules below this directory, which has a `.gitignore` with this text. */
  readonly within: (directory: string, text: string) => IgnoreRules
}

interface Rule {
  /** The directory of the rule's file, with a trailing slash; "" for the start of the search. */
  readonly base: string
  readonly negated: boolean
  readonly directoriesOnly: boolean
  readonly byName: boolean
  readonly matches: (path: string) => boolean
}

/** `above`: `.gitignore` files above the start, outermost first, with the path from there to the start (`a/b/`). */
export const openIgnoreRules = (
  above: readonly { readonly text: string; readonly prefix: string }[],
): IgnoreRules => {
  const outer = above.flatMap(({ text, prefix }) => parseRules(text, "").map((rule) => shifted(rule, prefix)))
  // A search that starts inside an ignored directory is intended. Rules from above would hide everything.
  const startIgnored = above.some(({ text, prefix }) => {
    const names = prefix.split("/").slice(0, -1)
    const rules = parseRules(text, "")
    return names.some((_, index) => decide(rules, names.slice(0, index + 1).join("/"), true))
  })
  return withRules(startIgnored ? [] : outer)
}

const withRules = (rules: readonly Rule[]): IgnoreRules => ({
  ignores: (path, isDirectory) => decide(rules, path, isDirectory),
  within: (directory, text) =>
    withRules(
      [...rules, ...parseRules(text, directory === "" ? "" : `${directory}/`)].slice(
        -TOOL_LIMITS.ignoreRules,
      ),
    ),
})

/** The same rule, for paths that start `prefix` deeper. */
const shifted = (rule: Rule, prefix: string): Rule => {
  const { base, negated, directoriesOnly, byName } = rule
  const matches = byName ? rule.matches : (path: string): boolean => rule.matches(prefix + path)
  return { base, negated, directoriesOnly, byName, matches }
}

const decide = (rules: readonly Rule[], path: string, isDirectory: boolean): boolean => {
  const name = path.slice(path.lastIndexOf("/") + 1)
  for (let index = rules.length - 1; index >= 0; index--) {
    const rule = rules[index]
    if (rule === undefined || (rule.directoriesOnly && !isDirectory) || !path.startsWith(rule.base)) continue
    if (rule.matches(rule.byName ? name : path.slice(rule.base.length))) return !rule.negated
  }
  return false
}

const parseRules = (text: string, base: string): readonly Rule[] =>
  text.split("\n", TOOL_LIMITS.ignoreRules).flatMap((line) => {
    const trimmed = line.replace(/\r$/, "").replace(/(?<!\\) +$/, "")
    if (trimmed === "" || trimmed.startsWith("#")) return []
    const negated = trimmed.startsWith("!")
    const body = negated ? trimmed.slice(1) : trimmed
    const directoriesOnly = body.endsWith("/")
    const path = directoriesOnly ? body.slice(0, -1) : body
    const compiled = compileGlob(path.startsWith("/") ? path.slice(1) : path, { braces: false })
    if (compiled.type === "refused" || path === "") return []
    return [{ base, negated, directoriesOnly, byName: !path.includes("/"), matches: compiled.matches }]
  })
