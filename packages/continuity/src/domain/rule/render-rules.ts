/** The block of active rules: a title, one line that asks to follow them, then each rule under its path. */
import { BYTES_PER_TOKEN, estimateTokens } from "../text/estimate-tokens.ts"
import { sanitizeLine } from "../text/sanitize-line.ts"
import type { Rule } from "./rule.ts"

export interface RenderedRules {
  /** Empty when there are no rules to follow. */
  readonly text: string
  /** Rules that did not fit, in their order. */
  readonly leftOut: readonly Rule[]
}

export const RULES_TITLE = "# OpenCode Rules"
export const RULE_TOKENS = 8_000

const HEAD = `${RULES_TITLE}\n\nPlease follow the following rules:`
/** Room for the line that names the omitted rules. */
const NOTICE_TOKENS = 120

/** Never exceeds the given tokens. Empty when there is too little room for anything. */
export const renderRules = (rules: readonly Rule[], maxTokens: number = RULE_TOKENS): RenderedRules => {
  const wanted = withoutCopies(rules)
  if (wanted.length === 0) return { text: "", leftOut: [] }
  const headings = headingsOf(wanted)
  const room = maxTokens - estimateTokens(`${HEAD}\n\n`)
  const all = choose(wanted, headings, room)
  if (all.leftOut.length === 0) return { text: compose([HEAD, ...separate(all.sections)]), leftOut: [] }
  const some = choose(wanted, headings, room - NOTICE_TOKENS)
  const named = compose([HEAD, noticeOf(some.leftOut), ...separate(some.sections)])
  if (estimateTokens(named) <= maxTokens) return { text: named, leftOut: some.leftOut }
  const { sections, leftOut } = all
  return { text: sections.length === 0 ? "" : compose([HEAD, ...separate(sections)]), leftOut }
}

const compose = (blocks: readonly string[]): string => blocks.join("\n\n")

const separate = (sections: readonly string[]): readonly string[] =>
  sections.length === 0 ? [] : [sections.join("\n\n---\n\n")]

/** Goes through the rules in order and takes each one that still fits. */
const choose = (
  rules: readonly Rule[],
  headings: ReadonlyMap<Rule, string>,
  room: number,
): { readonly sections: readonly string[]; readonly leftOut: readonly Rule[] } => {
  const sections: string[] = []
  const leftOut: Rule[] = []
  let left = room
  for (const rule of rules) {
    // A body that cannot fit is not even counted.
    const fits = rule.body.length <= left * BYTES_PER_TOKEN
    const section = fits ? `## ${headings.get(rule) ?? rule.path}\n\n${rule.body}` : ""
    const tokens = fits ? estimateTokens(section) + 2 : Number.POSITIVE_INFINITY
    if (tokens > left) leftOut.push(rule)
    else {
      sections.push(section)
      left -= tokens
    }
  }
  return { sections, leftOut }
}

/** Drops rules without text. The same text under the same path in two folders is kept once. */
const withoutCopies = (rules: readonly Rule[]): readonly Rule[] => {
  const seen = new Set<string>()
  return rules.filter(({ path, body }) => {
    const identity = `${path}\n${body}`
    if (body === "" || seen.has(identity)) return false
    seen.add(identity)
    return true
  })
}

/** The path within its folder. The folder is added where two folders contain the same path. */
const headingsOf = (rules: readonly Rule[]): ReadonlyMap<Rule, string> => {
  const count = new Map<string, number>()
  for (const { path } of rules) count.set(path, (count.get(path) ?? 0) + 1)
  return new Map(
    rules.map((rule) => {
      const path = sanitizeLine(rule.path)
      return [rule, (count.get(rule.path) ?? 0) > 1 ? `${path} (${sanitizeLine(rule.folder)})` : path]
    }),
  )
}

const noticeOf = (leftOut: readonly Rule[]): string => {
  const names = leftOut.slice(0, 8).map(({ path }) => sanitizeLine(path, 40))
  const more = leftOut.length > names.length ? ` and ${leftOut.length - names.length} more` : ""
  return `Left out for lack of room, read them before you touch what they govern: ${names.join(", ")}${more}`
}
