/** The block of active rules: a title line, one line that asks to follow them, then each rule under its path. */
import { BYTES_PER_TOKEN, estimateTokens } from "../text/estimate-tokens.ts"
import { sanitizeLine } from "../text/sanitize-line.ts"
import type { Rule } from "./rule.ts"

export interface RenderedRules {
  /** Empty when there is nothing to follow. */
  readonly text: string
  /** Rules that found no room, in their order. */
  readonly leftOut: readonly Rule[]
}

export const RULES_TITLE = "# OpenCode Rules"
export const RULE_TOKENS = 8_000

const INTRODUCTION = "Please follow the following rules:"
/** Room for the line that names what was left out. */
const NOTICE_TOKENS = 120

export const renderRules = (rules: readonly Rule[], maxTokens: number = RULE_TOKENS): RenderedRules => {
  const sections: string[] = []
  const leftOut: Rule[] = []
  const headings = headingsOf(rules)
  let left = maxTokens - estimateTokens(`${RULES_TITLE}\n\n${INTRODUCTION}\n\n`) - NOTICE_TOKENS
  for (const rule of withoutCopies(rules)) {
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
  if (sections.length === 0 && leftOut.length === 0) return { text: "", leftOut }
  const notice = leftOut.length === 0 ? [] : [noticeOf(leftOut)]
  return {
    text: [`${RULES_TITLE}\n\n${INTRODUCTION}`, ...notice, sections.join("\n\n---\n\n")]
      .join("\n\n")
      .trimEnd(),
    leftOut,
  }
}

/** A rule without text says nothing; the same text under the same path in two folders is said once. */
const withoutCopies = (rules: readonly Rule[]): readonly Rule[] => {
  const seen = new Set<string>()
  return rules.filter(({ path, body }) => {
    const identity = `${path}\n${body}`
    if (body === "" || seen.has(identity)) return false
    seen.add(identity)
    return true
  })
}

/** The path within its folder; the folder is named as well where two folders hold the same path. */
const headingsOf = (rules: readonly Rule[]): ReadonlyMap<Rule, string> => {
  const count = new Map<string, number>()
  for (const { path } of withoutCopies(rules)) count.set(path, (count.get(path) ?? 0) + 1)
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
