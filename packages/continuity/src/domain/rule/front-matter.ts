/**
 * The front matter of a markdown file: YAML between a first line `---` and the next line `---` (or `...`).
 *
 * A rule file decides what an agent is told, so an unreadable front matter must never turn a conditional rule into an
 * unconditional one: any doubt is `malformed`. The one exception is a text that merely opens with a thematic break (`---`
 * and a blank line): that is plain text.
 *
 * Bounds: the parser is quadratic in the number of keys and recursive in the depth of nesting. So a front matter may have
 * at most 4 KiB, 100 lines and four levels, and no aliases. A YAML bomb then costs about a millisecond.
 */
import { parse } from "yaml"

export type FrontMatter =
  | { readonly kind: "absent"; readonly body: string }
  | { readonly kind: "read"; readonly fields: ReadonlyMap<string, unknown>; readonly body: string }
  | { readonly kind: "malformed"; readonly reason: string; readonly body: string }

export const FRONT_MATTER_LIMIT = 4 * 1024

const FENCE = /^---[ \t]*$/
const END = /^(?:---|\.\.\.)[ \t]*$/
const KEY = /^["']?[A-Za-z_][\w-]*["']?[ \t]*:(?:[ \t]|$)/

export const readFrontMatter = (text: string): FrontMatter => {
  const source = text.startsWith("\uFEFF") ? text.slice(1) : text
  const first = lineAt(source, 0)
  if (!FENCE.test(first.line)) return { kind: "absent", body: source }

  const lines: string[] = []
  let next = first.end
  while (next < source.length) {
    const { line, end } = lineAt(source, next)
    if (END.test(line)) return interpret(lines, source, end)
    lines.push(line)
    next = end
    if (next > FRONT_MATTER_LIMIT)
      return isBreak(lines)
        ? { kind: "absent", body: source }
        : { kind: "malformed", reason: "the front matter is longer than 4 KiB", body: source }
  }
  if (lines.some((line) => KEY.test(line)))
    return { kind: "malformed", reason: "the front matter is not closed", body: source }
  return { kind: "absent", body: source }
}

const interpret = (lines: readonly string[], source: string, end: number): FrontMatter => {
  if (isBreak(lines)) return { kind: "absent", body: source }
  const body = source.slice(end)
  if (isTangled(lines)) return { kind: "malformed", reason: "the front matter is too complex", body }
  const quoted = quoteBareGlobs(lines)
  if (quoted.some((line) => ANCHOR_OR_TAG.test(line) || (FLOW.test(line) && FLOW_ANCHOR_OR_TAG.test(line))))
    return { kind: "malformed", reason: "the front matter has an anchor or a tag", body }
  const value = parseYaml(quoted.join("\n"))
  if (value.kind === "malformed") return { ...value, body }
  if (value.data === null || value.data === undefined) return { kind: "read", fields: new Map(), body }
  if (typeof value.data !== "object" || Array.isArray(value.data))
    return { kind: "malformed", reason: "the front matter is not a set of keys", body }
  return { kind: "read", fields: new Map(Object.entries(value.data)), body }
}

/** `---`, a blank line and no key before the next `---`: the author drew a line. */
const isBreak = (lines: readonly string[]): boolean =>
  lines[0]?.trim() === "" && lines.some((line) => line.trim() !== "") && !lines.some((line) => KEY.test(line))

/** To YAML `key: &name` is an empty value, but its author meant something else. */
const ANCHOR_OR_TAG = /^[ \t]*(?:- +)?(?:["']?[\w-]+["']?[ \t]*:[ \t]+)?[&!]/
const FLOW = /^[^:]*:[ \t]*[[{]/
const FLOW_ANCHOR_OR_TAG = /[[{,:][ \t]*[&!]/

const LINES = 100
const NESTING = 4
const SIGNS = 200

/** More nesting than the conditions of a rule ever need, counted without parsing. */
const isTangled = (lines: readonly string[]): boolean => {
  let depth = 0
  let signs = 0
  for (const line of lines) {
    if (/^[ \t]*(?:[-?][ \t]+){3}/.test(line)) return true
    for (const sign of line.match(/[[\]{}&!:?]/g) ?? []) {
      signs += 1
      if (sign === "[" || sign === "{") depth += 1
      if (sign === "]" || sign === "}") depth -= 1
      if (depth > NESTING) return true
    }
  }
  return lines.length > LINES || signs > SIGNS
}

const parseYaml = (
  text: string,
):
  | { readonly kind: "parsed"; readonly data: unknown }
  | { readonly kind: "malformed"; readonly reason: string } => {
  try {
    return { kind: "parsed", data: parse(text, { maxAliasCount: 0, logLevel: "error" }) }
  } catch (error) {
    const [reason = "unreadable"] = (error instanceof Error ? error.message : "unreadable").split("\n")
    return { kind: "malformed", reason: `the front matter is not YAML: ${reason.slice(0, 120)}` }
  }
}

const GLOB_KEY = /^(globs|paths|applyTo)([ \t]*:[ \t]*)(.*)$/
const ITEM = /^([ \t]*-[ \t]+)(.*)$/
/** What YAML reads as an alias, a tag, a mapping or a reserved character, but a person meant as a glob. */
const BARE_GLOB = /^(?:[*!@%`]|\{(?![^{},]*:(?: |$)))/

/**
 * Cursor writes `globs: **\/*.ts,src/*.tsx` without quotes, which is not YAML. Under the keys for globs, values that start
 * with a glob character get the missing quotes.
 */
const quoteBareGlobs = (lines: readonly string[]): readonly string[] => {
  let within = false
  return lines.map((line) => {
    const key = GLOB_KEY.exec(line)
    if (key !== null) {
      within = true
      return `${key[1]}${key[2]}${quoteValue(key[3] ?? "")}`
    }
    if (KEY.test(line)) within = false
    const item = within ? ITEM.exec(line) : null
    return item === null ? line : `${item[1]}${quoteValue(item[2] ?? "")}`
  })
}

const quoteValue = (value: string): string => {
  const bare = value.trim()
  if (BARE_GLOB.test(bare)) return `'${bare.replaceAll("'", "''")}'`
  if (!bare.startsWith("[") || !bare.endsWith("]") || /["']/.test(bare)) return value
  const items = splitList(bare.slice(1, -1))
  return `[${items.map((item) => `'${item}'`).join(", ")}]`
}

/** Splits at commas outside braces, brackets and parentheses. Linear; empty items are dropped. */
export const splitList = (text: string): readonly string[] => {
  const items: string[] = []
  let depth = 0
  let start = 0
  for (let index = 0; index <= text.length; index += 1) {
    const sign = text[index]
    if (sign === "{" || sign === "[" || sign === "(") depth += 1
    if (sign === "}" || sign === "]" || sign === ")") depth = Math.max(0, depth - 1)
    if (index < text.length && (sign !== "," || depth > 0)) continue
    items.push(text.slice(start, index).trim())
    start = index + 1
  }
  return items.filter((item) => item !== "")
}

const lineAt = (text: string, start: number): { readonly line: string; readonly end: number } => {
  const feed = text.indexOf("\n", start)
  const end = feed === -1 ? text.length : feed
  const line = text.slice(start, end)
  return { line: line.endsWith("\r") ? line.slice(0, -1) : line, end: feed === -1 ? end : end + 1 }
}
