/**
 * Globs over project-relative paths, in time linear in pattern times path, whatever the pattern.
 *
 * Why not a library: they translate a glob into a regular expression, and a rule file from a cloned repository can then
 * choose one that backtracks for minutes inside the user's agent. This one retries only its latest wildcard, expands
 * braces within a bound, and stops when the effort it was given is spent.
 *
 * `*` and `?` stay within a segment, `**` spans segments, `[a-z]` and `[!a]` are classes, `{a,b}` and `{1..3}` alternatives,
 * `@(a|b)` and `?(a|b)` likewise. A pattern without a slash matches base names at any depth. Names that begin with a dot are
 * names like others. A leading `!` excludes.
 */
import { expandBraces } from "./expand-braces.ts"

export interface Glob {
  readonly excludes: boolean
  /** One for each alternative: its segments. */
  readonly alternatives: readonly (readonly Segment[])[]
}

export type CompiledGlob =
  | { readonly kind: "glob"; readonly glob: Glob }
  | { readonly kind: "rejected"; readonly reason: string }

type Segment = "**" | readonly Token[]
type Token =
  | { readonly kind: "text"; readonly value: string }
  | { readonly kind: "any" }
  | { readonly kind: "star" }
  | { readonly kind: "class"; readonly negated: boolean; readonly members: string }

/** Steps a match may still take. One object is shared by all matches of an evaluation and counted down. */
export interface Effort {
  left: number
}

export const GLOB_LIMITS = { length: 512, alternatives: 64, segments: 64, path: 1024 } as const

export const compileGlob = (pattern: string): CompiledGlob => {
  if (pattern.length > GLOB_LIMITS.length) return reject("is longer than 512 characters")
  if (/[+*!]\(/.test(pattern.replace(/^!/, "")))
    return reject("uses +(), *() or !(), which are not supported")
  const excludes = pattern.startsWith("!")
  const expanded = expandBraces(excludes ? pattern.slice(1) : pattern, GLOB_LIMITS.alternatives)
  if (expanded === undefined) return reject("has more than 64 alternatives")
  const alternatives = expanded.map(segmentsOf)
  if (alternatives.some((segments) => segments.length > GLOB_LIMITS.segments))
    return reject("has more than 64 segments")
  if (alternatives.every((segments) => segments.length === 0)) return reject("is empty")
  return { kind: "glob", glob: { excludes, alternatives } }
}

const reject = (reason: string): CompiledGlob => ({ kind: "rejected", reason })

/** A path as the matcher walks it: split once, matched by many globs. */
export type SplitPath = readonly string[]

export const splitPath = (path: string): SplitPath =>
  path
    .slice(0, GLOB_LIMITS.path)
    .split("/")
    .filter((segment) => segment !== "" && segment !== ".")

/** Some including pattern matches some path that no excluding pattern matches. False once the effort is spent. */
export const matchesGlobs = (
  globs: readonly Glob[],
  paths: readonly SplitPath[],
  effort: Effort,
): boolean => {
  const including = globs.filter((glob) => !glob.excludes)
  const excluding = globs.filter((glob) => glob.excludes)
  const matches = (glob: Glob, path: SplitPath) => matchesGlob(glob, path, effort)
  return paths.some((path) => {
    const included = including.length === 0 || including.some((glob) => matches(glob, path))
    return included && !excluding.some((glob) => matches(glob, path)) && effort.left > 0
  })
}

export const matchesGlob = (glob: Glob, path: SplitPath, effort: Effort): boolean => {
  // A comparison costs a fraction of a step, but there may be very many.
  effort.left -= glob.alternatives.length / COMPARISONS_PER_STEP
  return (
    effort.left > 0 &&
    glob.alternatives.some((pattern) => mayEnd(pattern, path) && matchesPath(pattern, path, effort))
  )
}

const COMPARISONS_PER_STEP = 8

/** Most globs end in a name or an ending that most paths do not have: a comparison instead of a walk. */
const mayEnd = (pattern: readonly Segment[], path: SplitPath): boolean => {
  const last = pattern.at(-1)
  if (last === undefined || last === "**") return last === "**"
  const ending = last.at(-1)
  return ending?.kind !== "text" || (path.at(-1) ?? "").endsWith(ending.value)
}

/*
 * Two walks of the same kind, over segments and over characters. Only the latest wildcard is ever retried: what an earlier
 * one could take, the later one can take as well. Written out twice, since one walk with callbacks is ten times slower and
 * this runs for every rule, glob and path of every request.
 */

const matchesPath = (pattern: readonly Segment[], path: SplitPath, effort: Effort): boolean => {
  let part = 0
  let at = 0
  let wildcard = -1
  let resume = 0
  while (at < path.length) {
    effort.left -= 1
    if (effort.left <= 0) return false
    const segment = pattern[part]
    if (segment === "**") {
      wildcard = part
      resume = at
      part += 1
    } else if (segment !== undefined && matchesName(segment, path[at] ?? "", effort)) {
      part += 1
      at += 1
    } else if (wildcard === -1) return false
    else {
      resume += 1
      at = resume
      part = wildcard + 1
    }
  }
  // A closing `**` that found nothing does not match: `src/**` is what is inside `src`.
  return part === pattern.length
}

const matchesName = (tokens: readonly Token[], name: string, effort: Effort): boolean => {
  // Nearly every segment is a name, `*`, or `*` and an ending: no walk for those.
  const [first, second] = tokens
  if (tokens.length === 1 && first?.kind === "text") return first.value === name
  if (tokens.length === 1 && first?.kind === "star") return true
  if (tokens.length === 2 && first?.kind === "star" && second?.kind === "text")
    return name.endsWith(second.value)
  let part = 0
  let at = 0
  let wildcard = -1
  let resume = 0
  while (at < name.length) {
    effort.left -= 1
    if (effort.left <= 0) return false
    const token = tokens[part]
    const width = token === undefined ? 0 : widthOf(token, name, at)
    if (token?.kind === "star") {
      wildcard = part
      resume = at
      part += 1
    } else if (width > 0) {
      part += 1
      at += width
    } else if (wildcard === -1) return false
    else {
      resume += 1
      at = resume
      part = wildcard + 1
    }
  }
  while (tokens[part]?.kind === "star") part += 1
  return part === tokens.length
}

/** How many characters the token takes here; 0 when it does not match. */
const widthOf = (token: Token, name: string, from: number): number => {
  switch (token.kind) {
    case "text":
      return name.startsWith(token.value, from) ? token.value.length : 0
    case "any":
      return 1
    case "class":
      return inClass(token.members, name[from] ?? "") === token.negated ? 0 : 1
    case "star":
      return 0
  }
}

const inClass = (members: string, sign: string): boolean => {
  for (let index = 0; index < members.length; index += 1) {
    const low = members[index] ?? ""
    if (members[index + 1] === "-" && index + 2 < members.length) {
      const high = members[index + 2] ?? ""
      if (low <= sign && sign <= high) return true
      index += 2
    } else if (low === sign) return true
  }
  return false
}

const segmentsOf = (pattern: string): readonly Segment[] => {
  const anchored = pattern.startsWith("/")
  const trimmed = pattern.replace(/^(?:\.\/)+/, "").replace(/^\/+/, "")
  const folder = trimmed.endsWith("/")
  const names = trimmed.split("/").filter((name) => name !== "" && name !== ".")
  const segments: Segment[] = names.map((name) => (name === "**" ? "**" : tokensOf(name)))
  if (folder && segments.length > 0) segments.push("**")
  if (names.length === 1 && !anchored && !folder && segments[0] !== "**") segments.unshift("**")
  return segments.filter((segment, index) => segment !== "**" || segments[index - 1] !== "**")
}

const tokensOf = (name: string): readonly Token[] => {
  const tokens: Token[] = []
  let index = 0
  while (index < name.length) {
    const sign = name[index] ?? ""
    const close = sign === "[" ? name.indexOf("]", index + 2) : -1
    if (sign === "*") {
      if (tokens.at(-1)?.kind !== "star") tokens.push({ kind: "star" })
      index += 1
    } else if (sign === "?") {
      tokens.push({ kind: "any" })
      index += 1
    } else if (close !== -1) {
      const members = name.slice(index + 1, close)
      const negated = members.startsWith("!") || members.startsWith("^")
      tokens.push({ kind: "class", negated, members: negated ? members.slice(1) : members })
      index = close + 1
    } else {
      const escaped = sign === "\\" && index + 1 < name.length
      const value = escaped ? (name[index + 1] ?? "") : sign
      const last = tokens.at(-1)
      if (last?.kind === "text") tokens[tokens.length - 1] = { kind: "text", value: last.value + value }
      else tokens.push({ kind: "text", value })
      index += escaped ? 2 : 1
    }
  }
  return tokens
}
