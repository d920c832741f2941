/**
 * Globs for paths, in time linear in pattern times path for any pattern. This part is common to all dialects: `*` and `?`
 * stay within a name, `**` spans names, `[a-z]` and `[!a]` are classes, `\` makes the next character literal.
 *
 * Why not a library: libraries translate a glob into a regular expression, and a file of a cloned repository could choose
 * one that backtracks for minutes. Here only the latest wildcard is ever retried, because it can take whatever an earlier
 * one could.
 */
export type GlobSegment = "**" | readonly GlobToken[]

type GlobToken =
  | { readonly kind: "text"; readonly value: string }
  | { readonly kind: "any" }
  | { readonly kind: "star" }
  | {
      readonly kind: "class"
      readonly negated: boolean
      readonly ranges: readonly (readonly [string, string])[]
    }

/** How many steps are left. Several matches may share one object and count it down. */
export interface Effort {
  left: number
}

/** A part of a pattern between two slashes. */
export const globSegment = (segment: string): GlobSegment => (segment === "**" ? "**" : tokensOf(segment))

/** False once the effort is spent. A trailing `**` matches no name only with `mayEndEmpty`. */
export const matchesSegments = (
  pattern: readonly GlobSegment[],
  names: readonly string[],
  options: { readonly mayEndEmpty: boolean; readonly effort?: Effort },
): boolean => {
  const { mayEndEmpty, effort = { left: Number.POSITIVE_INFINITY } } = options
  let part = 0
  let at = 0
  let wildcard = -1
  let resume = 0
  while (at < names.length) {
    effort.left -= 1
    if (effort.left <= 0) return false
    const segment = pattern[part]
    if (segment === "**") {
      wildcard = part
      resume = at
      part += 1
    } else if (segment !== undefined && matchesName(segment, names[at] ?? "", effort)) {
      part += 1
      at += 1
    } else if (wildcard === -1) return false
    else {
      resume += 1
      at = resume
      part = wildcard + 1
    }
  }
  if (mayEndEmpty) while (pattern[part] === "**") part += 1
  return part === pattern.length
}

/**
 * The same loop over characters. It is written out twice because one loop with callbacks is ten times slower, and this runs
 * for every rule and path.
 */
const matchesName = (tokens: readonly GlobToken[], name: string, effort: Effort): boolean => {
  // Nearly every segment is a name, `*`, or `*` with an ending. Those need no loop.
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
const widthOf = (token: GlobToken, name: string, from: number): number => {
  switch (token.kind) {
    case "text":
      return name.startsWith(token.value, from) ? token.value.length : 0
    case "any":
      return 1
    case "class":
      return isInside(token.ranges, name[from] ?? "") === token.negated ? 0 : 1
    case "star":
      return 0
  }
}

const isInside = (ranges: readonly (readonly [string, string])[], sign: string): boolean => {
  for (const [low, high] of ranges) if (low <= sign && sign <= high) return true
  return false
}

const tokensOf = (segment: string): readonly GlobToken[] => {
  const tokens: GlobToken[] = []
  let index = 0
  while (index < segment.length) {
    const sign = segment[index] ?? ""
    const group = sign === "[" ? readClass(segment, index) : undefined
    if (group !== undefined) {
      tokens.push(group.token)
      index = group.end
    } else if (sign === "*") {
      if (tokens.at(-1)?.kind !== "star") tokens.push({ kind: "star" })
      index += 1
    } else if (sign === "?") {
      tokens.push({ kind: "any" })
      index += 1
    } else {
      const escaped = sign === "\\" && index + 1 < segment.length
      const value = escaped ? (segment[index + 1] ?? "") : sign
      const last = tokens.at(-1)
      if (last?.kind === "text") tokens[tokens.length - 1] = { kind: "text", value: last.value + value }
      else tokens.push({ kind: "text", value })
      index += escaped ? 2 : 1
    }
  }
  return tokens
}

/** Undefined for an unclosed bracket, which is literal. A leading `]` is a member. */
const readClass = (
  segment: string,
  start: number,
): { readonly token: GlobToken; readonly end: number } | undefined => {
  const negated = segment[start + 1] === "!" || segment[start + 1] === "^"
  const first = start + (negated ? 2 : 1)
  const close = segment.indexOf("]", first + 1)
  if (close === -1) return undefined
  const ranges: (readonly [string, string])[] = []
  for (let at = first; at < close; at += 1) {
    const low = segment[at] ?? ""
    const isRange = segment[at + 1] === "-" && at + 2 < close
    ranges.push([low, isRange ? (segment[at + 2] ?? "") : low])
    if (isRange) at += 2
  }
  return { token: { kind: "class", negated, ranges }, end: close + 1 }
}
