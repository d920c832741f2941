/**
 * What a prompt changes about the requests of its activity. Overrides are admitted with the input and compared on a retry.
 * They apply from its promotion until the activity settles, joined with those of the activity's earlier inputs.
 */
import { Failure, matchesWildcard, type Overrides } from "@meridian/protocol"

import { checkFormat } from "./answer-format.ts"
import { LIMITS } from "./limits.ts"
import { checkSettings, mergeSettings } from "./request-settings.ts"
import { sameJson } from "./same-json.ts"

/** The only object for "no overrides", so that caches by identity work for every such prompt. */
export const NO_OVERRIDES: Overrides = {}

const FIELDS = ["system", "tools", "settings", "format"] as const

/** Picks the four override fields of a larger value. */
export const overridesOf = (from: Overrides): Overrides => {
  const given = FIELDS.filter((field) => from[field] !== undefined)
  return given.length === 0 ? NO_OVERRIDES : Object.fromEntries(given.map((field) => [field, from[field]]))
}

/** The first differing field. */
export const differingOverride = (left: Overrides, right: Overrides): (typeof FIELDS)[number] | undefined =>
  FIELDS.find((field) => !sameJson(left[field], right[field]))

/** A later input adds to the system text and replaces the fields it sets. */
export const joinOverrides = (before: Overrides, after: Overrides): Overrides => {
  if (after === NO_OVERRIDES) return before
  if (before === NO_OVERRIDES) return after
  return {
    ...before,
    ...after,
    ...(before.system === undefined || after.system === undefined
      ? {}
      : { system: `${before.system}\n\n${after.system}` }),
    ...(before.tools === undefined || after.tools === undefined
      ? {}
      : { tools: { ...before.tools, ...after.tools } }),
    ...(before.settings === undefined || after.settings === undefined
      ? {}
      : { settings: mergeSettings([before.settings, after.settings]) }),
  }
}

/**
 * Whether a tool should be offered; undefined when the overrides do not mention it. The exact name wins over a pattern and
 * a longer pattern over a shorter one, so their order does not matter.
 */
export const saysOfTool = ({ tools }: Overrides, name: string): boolean | undefined => {
  if (tools === undefined) return undefined
  if (Object.hasOwn(tools, name)) return tools[name]
  const [best] = Object.keys(tools)
    .filter((pattern) => matchesWildcard(pattern, name))
    .toSorted((left, right) => right.length - left.length || (left < right ? -1 : 1))
  return best === undefined ? undefined : tools[best]
}

/** Checks what the field shapes cannot, and returns a private copy. Throws INVALID_INPUT. */
export const checkOverrides = (overrides: Overrides): Overrides => {
  if (overrides === NO_OVERRIDES) return overrides
  const { system, tools = {}, settings, format } = overrides
  const fail = (what: string): Failure => new Failure("INVALID_INPUT", { what })
  if (system !== undefined && system.length > LIMITS.systemCharacters)
    throw fail(`\`system\` is at most ${LIMITS.systemCharacters} characters, this one is ${system.length}`)
  const names = Object.keys(tools)
  if (names.length > LIMITS.agentTools) throw fail(`\`tools\` names at most ${LIMITS.agentTools}`)
  const long = names.find((name) => name.length > LIMITS.toolPatternCharacters || name === "")
  if (long !== undefined)
    throw fail(`\`tools\`: a name is 1 to ${LIMITS.toolPatternCharacters} characters long`)
  return {
    ...overrides,
    ...(overrides.tools === undefined ? {} : { tools: { ...overrides.tools } }),
    ...(settings === undefined ? {} : { settings: checkSettings(settings, "`settings`") }),
    ...(format === undefined ? {} : { format: checkFormat(format) }),
  }
}
