/** Who may do what. Rules are read in order and the last match wins; what no rule matches is asked. */
export type Effect = "allow" | "ask" | "deny"

export interface PermissionRule {
  readonly action: string
  readonly resource: string
  readonly effect: Effect
}

export interface SavedApproval {
  readonly action: string
  readonly resource: string
}

export type Verdict =
  | { readonly kind: "allow" }
  | { readonly kind: "deny"; readonly rule: PermissionRule }
  | { readonly kind: "ask" }

export interface Question {
  readonly action: string
  readonly resources: readonly string[]
}

/**
 * The engine's rules come first, the agent's after them, so an agent can be stricter or freer than the rest. A saved
 * approval answers what would be asked; it never lifts a denial.
 */
export const decidePermission = (
  question: Question,
  rules: readonly PermissionRule[],
  approvals: readonly SavedApproval[],
): Verdict => {
  let asks = false
  for (const resource of question.resources) {
    const rule = lastMatch(rules, question.action, resource)
    if (rule?.effect === "deny") return { kind: "deny", rule }
    if (rule?.effect === "allow") continue
    const approved = approvals.some(
      (approval) =>
        matchesWildcard(approval.action, question.action) && matchesWildcard(approval.resource, resource),
    )
    if (!approved) asks = true
  }
  return asks ? { kind: "ask" } : { kind: "allow" }
}

const lastMatch = (
  rules: readonly PermissionRule[],
  action: string,
  resource: string,
): PermissionRule | undefined =>
  rules.findLast((rule) => matchesWildcard(rule.action, action) && matchesWildcard(rule.resource, resource))

/** A whole tool is not advertised when the last rule about it, on every resource, denies it. */
export const isDeniedEverywhere = (rules: readonly PermissionRule[], action: string): boolean => {
  const rule = rules.findLast((candidate) => matchesWildcard(candidate.action, action))
  return rule?.effect === "deny" && rule.resource === "*"
}

/**
 * `*` is any run of characters, `?` is one; a trailing ` *` also matches nothing at all (`git status *` covers
 * `git status`); a backslash takes the meaning from a star, a question mark and itself. On a mismatch only the last star moves: never exponential, whatever the pattern.
 */
/** As a pattern that matches this text and nothing else: approvals are saved as what the person saw. */
export const literalPattern = (text: string): string => text.replaceAll(/[*?\\]/g, "\\$&")

export const matchesWildcard = (pattern: string, text: string): boolean => {
  if (pattern.endsWith(" *") && matchesExactly(pattern.slice(0, -2), text)) return true
  return matchesExactly(pattern, text)
}

const matchesExactly = (pattern: string, text: string): boolean => {
  let atPattern = 0
  let atText = 0
  let star = -1
  let resumeAt = 0
  while (atText < text.length) {
    const escaped = isEscape(pattern, atPattern)
    const wanted = pattern[escaped ? atPattern + 1 : atPattern]
    if (wanted === "*" && !escaped) {
      star = atPattern
      resumeAt = atText
      atPattern += 1
    } else if ((wanted === "?" && !escaped) || wanted === text[atText]) {
      atPattern += escaped ? 2 : 1
      atText += 1
    } else if (star >= 0) {
      atPattern = star + 1
      resumeAt += 1
      atText = resumeAt
    } else return false
  }
  while (pattern[atPattern] === "*") atPattern += 1
  return atPattern === pattern.length
}

const isEscape = (pattern: string, at: number): boolean => {
  const next = pattern[at + 1]
  return pattern[at] === "\\" && (next === "*" || next === "?" || next === "\\")
}
