/** Expands patterns with alternatives into plain patterns, up to a limit. Unbalanced brackets are literal. */

export interface BraceOptions {
  /** The most alternatives. */
  readonly limit: number
  /** Also expands `{1..3}`, `@(a|b)` and `?(a|b)`, not only `{a,b}`. */
  readonly extended: boolean
}

/** Undefined when there are too many. */
export const expandBraces = (pattern: string, options: BraceOptions): readonly string[] | undefined => {
  const { limit } = options
  const done: string[] = []
  let open = [pattern]
  while (open.length > 0) {
    const next: string[] = []
    for (const candidate of open) {
      const pieces = splitAlternative(candidate, options)
      if (pieces === undefined) done.push(candidate)
      else next.push(...pieces)
      if (done.length + next.length > limit) return undefined
    }
    open = next
  }
  return [...new Set(done)]
}

/** Replaces the first group that has alternatives by each of them. */
const splitAlternative = (pattern: string, options: BraceOptions): readonly string[] | undefined => {
  for (let index = 0; index < pattern.length; index += 1) {
    const sign = pattern[index]
    if (sign === "\\") {
      index += 1
      continue
    }
    const group =
      sign === "{" ? braces(pattern, index, options) : options.extended ? groupOf(pattern, index) : undefined
    if (group === undefined) continue
    const before = pattern.slice(0, index)
    const after = pattern.slice(group.end)
    return group.options.map((option) => `${before}${option}${after}`)
  }
  return undefined
}

interface Group {
  readonly options: readonly string[]
  readonly end: number
}

const braces = (pattern: string, start: number, { limit, extended }: BraceOptions): Group | undefined => {
  const inside = balanced(pattern, start, "{", "}", ",")
  if (inside === undefined) return undefined
  if (inside.options.length > 1) return inside
  if (!extended) return undefined
  const range = /^(\d{1,4})\.\.(\d{1,4})$/.exec(inside.options[0] ?? "")
  if (range === null) return undefined
  const [low, high] = [Number(range[1]), Number(range[2])]
  // One more than the limit is enough to exceed it.
  const count = Math.min(Math.abs(high - low), limit) + 1
  const step = high < low ? -1 : 1
  return { ...inside, options: Array.from({ length: count }, (_, index) => String(low + index * step)) }
}

const groupOf = (pattern: string, start: number): Group | undefined => {
  const sign = pattern[start]
  if ((sign !== "@" && sign !== "?") || pattern[start + 1] !== "(") return undefined
  const inside = balanced(pattern, start + 1, "(", ")", "|")
  if (inside === undefined) return undefined
  return { ...inside, options: sign === "?" ? ["", ...inside.options] : inside.options }
}

/** The options between two brackets. Nested pairs stay whole. */
const balanced = (
  pattern: string,
  start: number,
  open: string,
  close: string,
  separator: string,
): Group | undefined => {
  const options: string[] = []
  let depth = 0
  let from = start + 1
  for (let index = start; index < pattern.length; index += 1) {
    const sign = pattern[index]
    if (sign === "\\") {
      index += 1
      continue
    }
    if (sign === open) depth += 1
    if (sign === close) depth -= 1
    if ((sign === separator && depth === 1) || depth === 0) {
      options.push(pattern.slice(from, index))
      from = index + 1
    }
    if (depth === 0) return { options, end: index + 1 }
  }
  return undefined
}
