/**
 * Glob patterns without regular expressions: `*` and `?` within a name, `**` across directories, `[a-z]` and `[!a]`
 * classes, `{a,b}` alternatives, `\` before a character that means itself. Matching costs at most pattern times path, so
 * there is no pattern that hangs; alternatives are counted before they are written out.
 */
import { TOOL_LIMITS } from "./limits.ts"

export type GlobPattern =
  | { readonly type: "pattern"; readonly matches: (path: string) => boolean }
  | { readonly type: "refused"; readonly why: string }

type Token =
  | { readonly type: "character"; readonly value: string }
  | { readonly type: "any" }
  | { readonly type: "star" }
  | {
      readonly type: "class"
      readonly negated: boolean
      readonly ranges: readonly (readonly [string, string])[]
    }

type Segment = { readonly type: "directories" } | { readonly type: "name"; readonly tokens: readonly Token[] }

export const compileGlob = (pattern: string, options: { readonly braces: boolean }): GlobPattern => {
  if (pattern.length > TOOL_LIMITS.patternCharacters)
    return { type: "refused", why: `the pattern is longer than ${TOOL_LIMITS.patternCharacters} characters` }
  const alternatives = options.braces ? expandBraces(pattern) : [pattern]
  if (alternatives === undefined)
    return { type: "refused", why: `the pattern has more than ${TOOL_LIMITS.globAlternatives} alternatives` }
  const compiled = alternatives.map((alternative) => alternative.split("/").map(compileSegment))
  return {
    type: "pattern",
    matches: (path) => {
      const names = path.split("/")
      return compiled.some((segments) => matchSegments(segments, names))
    },
  }
}

/** Undefined when there are too many. Unbalanced braces mean themselves. */
const expandBraces = (pattern: string): readonly string[] | undefined => {
  const done: string[] = []
  const open = [pattern]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const group = innermostGroup(next)
    if (group === undefined) done.push(next)
    else for (const choice of group.choices) open.push(group.before + choice + group.after)
    if (done.length + open.length > TOOL_LIMITS.globAlternatives) return undefined
  }
  return [...new Set(done)]
}

const innermostGroup = (
  pattern: string,
): { readonly before: string; readonly choices: readonly string[]; readonly after: string } | undefined => {
  let start = -1
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]
    if (character === "\\") at++
    else if (character === "{") start = at
    else if (character === "}" && start !== -1) {
      const inner = pattern.slice(start + 1, at)
      if (inner.includes(","))
        return { before: pattern.slice(0, start), choices: inner.split(","), after: pattern.slice(at + 1) }
      start = -1
    }
  }
  return undefined
}

const compileSegment = (segment: string): Segment => {
  if (segment === "**") return { type: "directories" }
  const tokens: Token[] = []
  for (let at = 0; at < segment.length; at++) {
    const character = segment[at] ?? ""
    const set = character === "[" ? readClass(segment, at) : undefined
    if (set !== undefined) {
      tokens.push(set.token)
      at = set.end
    } else if (character === "\\" && at + 1 < segment.length)
      tokens.push({ type: "character", value: segment[++at] ?? "" })
    else if (character === "*") {
      if (tokens.at(-1)?.type !== "star") tokens.push({ type: "star" })
    } else if (character === "?") tokens.push({ type: "any" })
    else tokens.push({ type: "character", value: character })
  }
  return { type: "name", tokens }
}

const readClass = (
  segment: string,
  start: number,
): { readonly token: Token; readonly end: number } | undefined => {
  const negated = segment[start + 1] === "!" || segment[start + 1] === "^"
  const first = start + (negated ? 2 : 1)
  const end = segment.indexOf("]", first + 1)
  if (end === -1) return undefined
  const ranges: (readonly [string, string])[] = []
  for (let at = first; at < end; at++) {
    const from = segment[at] ?? ""
    const isRange = segment[at + 1] === "-" && at + 2 < end
    ranges.push([from, isRange ? (segment[at + 2] ?? "") : from])
    if (isRange) at += 2
  }
  return { token: { type: "class", negated, ranges }, end }
}

/** Only the last `**` can ever need another try, which is why this is not exponential. */
const matchSegments = (segments: readonly Segment[], names: readonly string[]): boolean => {
  let segment = 0
  let name = 0
  let retrySegment = -1
  let retryName = 0
  while (name < names.length) {
    const current = segments[segment]
    if (current?.type === "directories") {
      retrySegment = segment++
      retryName = name
    } else if (current !== undefined && matchName(current.tokens, names[name] ?? "")) {
      segment++
      name++
    } else if (retrySegment !== -1) {
      segment = retrySegment + 1
      name = ++retryName
    } else return false
  }
  while (segments[segment]?.type === "directories") segment++
  return segment === segments.length
}

const matchName = (tokens: readonly Token[], name: string): boolean => {
  let token = 0
  let at = 0
  let retryToken = -1
  let retryAt = 0
  while (at < name.length) {
    const current = tokens[token]
    if (current?.type === "star") {
      retryToken = token++
      retryAt = at
    } else if (current !== undefined && matchCharacter(current, name[at] ?? "")) {
      token++
      at++
    } else if (retryToken !== -1) {
      token = retryToken + 1
      at = ++retryAt
    } else return false
  }
  while (tokens[token]?.type === "star") token++
  return token === tokens.length
}

const matchCharacter = (token: Exclude<Token, { type: "star" }>, character: string): boolean => {
  if (token.type === "any") return true
  if (token.type === "character") return token.value === character
  return token.ranges.some(([from, to]) => character >= from && character <= to) !== token.negated
}
