/**
 * The globs of the search tools and of `.gitignore` files: everything that `matchesSegments` supports and, for the tools,
 * `{a,b}`. A trailing `**` also matches nothing, so `src/**` finds `src` itself.
 */
import { expandBraces, globSegment, matchesSegments } from "@meridian/protocol"

import { TOOL_LIMITS } from "./limits.ts"

export type GlobPattern =
  | { readonly type: "pattern"; readonly matches: (path: string) => boolean }
  | { readonly type: "refused"; readonly why: string }

export const compileGlob = (pattern: string, options: { readonly braces: boolean }): GlobPattern => {
  const { patternCharacters, globAlternatives } = TOOL_LIMITS
  if (pattern.length > patternCharacters)
    return { type: "refused", why: `the pattern is longer than ${patternCharacters} characters` }
  const alternatives = options.braces
    ? expandBraces(pattern, { limit: globAlternatives, extended: false })
    : [pattern]
  if (alternatives === undefined)
    return { type: "refused", why: `the pattern has more than ${globAlternatives} alternatives` }
  const compiled = alternatives.map((alternative) => alternative.split("/").map(globSegment))
  return {
    type: "pattern",
    matches: (path) => {
      const names = path.split("/")
      return compiled.some((segments) => matchesSegments(segments, names, { mayEndEmpty: true }))
    },
  }
}
