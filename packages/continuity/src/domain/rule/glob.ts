/**
 * The globs of rules, for project-relative paths. In addition to `matchesSegments` they support `{a,b}` and `{1..3}`,
 * `@(a|b)` and `?(a|b)`. A pattern without a slash matches base names at any depth. Names that start with a dot are
 * ordinary names. A leading `!` excludes.
 */
import { expandBraces, globSegment, matchesSegments, type Effort, type GlobSegment } from "@meridian/protocol"

export type { Effort } from "@meridian/protocol"

export interface Glob {
  readonly excludes: boolean
  /** The segments of each alternative. */
  readonly alternatives: readonly (readonly GlobSegment[])[]
}

export type CompiledGlob =
  | { readonly kind: "glob"; readonly glob: Glob }
  | { readonly kind: "rejected"; readonly reason: string }

export const GLOB_LIMITS = { length: 512, alternatives: 64, segments: 64, path: 1024 } as const

export const compileGlob = (pattern: string): CompiledGlob => {
  if (pattern.length > GLOB_LIMITS.length) return reject("is longer than 512 characters")
  if (/[+*!]\(/.test(pattern.replace(/^!/, "")))
    return reject("uses +(), *() or !(), which are not supported")
  const excludes = pattern.startsWith("!")
  const expanded = expandBraces(excludes ? pattern.slice(1) : pattern, {
    limit: GLOB_LIMITS.alternatives,
    extended: true,
  })
  if (expanded === undefined) return reject("has more than 64 alternatives")
  const alternatives = expanded.map(segmentsOf)
  if (alternatives.some((segments) => segments.length > GLOB_LIMITS.segments))
    return reject("has more than 64 segments")
  if (alternatives.every((segments) => segments.length === 0)) return reject("is empty")
  return { kind: "glob", glob: { excludes, alternatives } }
}

const reject = (reason: string): CompiledGlob => ({ kind: "rejected", reason })

/** A path prepared for the matcher: split once, matched by many globs. */
export type SplitPath = readonly string[]

export const splitPath = (path: string): SplitPath =>
  path
    .slice(0, GLOB_LIMITS.path)
    .split("/")
    .filter((segment) => segment !== "" && segment !== ".")

/** Whether an including pattern matches a path that no excluding pattern matches. False once the effort is spent. */
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
    // `src/**` matches what is inside `src`, not `src` itself.
    glob.alternatives.some(
      (pattern) => mayEnd(pattern, path) && matchesSegments(pattern, path, { mayEndEmpty: false, effort }),
    )
  )
}

const COMPARISONS_PER_STEP = 8

/** Most globs end in a name or extension that most paths do not have. Comparing that is cheaper than matching. */
const mayEnd = (pattern: readonly GlobSegment[], path: SplitPath): boolean => {
  const last = pattern.at(-1)
  if (last === undefined || last === "**") return last === "**"
  const ending = last.at(-1)
  return ending?.kind !== "text" || (path.at(-1) ?? "").endsWith(ending.value)
}

const segmentsOf = (pattern: string): readonly GlobSegment[] => {
  const anchored = pattern.startsWith("/")
  const trimmed = pattern.replace(/^(?:\.\/)+/, "").replace(/^\/+/, "")
  const folder = trimmed.endsWith("/")
  const names = trimmed.split("/").filter((name) => name !== "" && name !== ".")
  const segments = names.map(globSegment)
  if (folder && segments.length > 0) segments.push("**")
  if (names.length === 1 && !anchored && !folder && segments[0] !== "**") segments.unshift("**")
  return segments.filter((segment, index) => segment !== "**" || segments[index - 1] !== "**")
}
