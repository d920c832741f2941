/** Who may do what. Rules are read in order and the last match wins. What no rule matches is asked. */
import {
  allowsCommand,
  concernsCommand,
  matchesWildcard,
  objectOf,
  oneOf,
  STRING,
  type TypeOf,
} from "@meridian/protocol"

export const PERMISSION_RULE = objectOf({
  action: STRING,
  resource: STRING,
  effect: oneOf("allow", "ask", "deny"),
})
export type PermissionRule = TypeOf<typeof PERMISSION_RULE>

export interface SavedApproval {
  readonly action: string
  readonly resource: string
}

/** A saved approval and where it was given. */
export interface GivenApproval extends SavedApproval {
  readonly project: string
  readonly session: string
  /** The time of the answer that gave it. */
  readonly time: number
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
 * The engine's rules come first and the agent's after them, so an agent can be stricter or freer. A saved approval only
 * answers what would be asked. It never lifts a denial, and a broad approval does not answer for a narrow rule.
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
    const isSpecial = rule !== undefined && rule.resource !== "*"
    const approved = approvals.some(
      (approval) =>
        // A person who allowed everything did not have this specific rule in mind.
        !(isSpecial && approval.resource === "*") &&
        matchesWildcard(approval.action, question.action) &&
        covers({ ...approval, effect: "allow" }, question.action, resource),
    )
    if (!approved) asks = true
  }
  return asks ? { kind: "ask" } : { kind: "allow" }
}

/** A session that works for others may do only what all of them may: the strictest verdict wins. */
export const decideUnder = (
  question: Question,
  sets: readonly (readonly PermissionRule[])[],
  approvals: readonly SavedApproval[],
): Verdict => {
  const verdicts = sets.map((rules) => decidePermission(question, rules, approvals))
  return (
    verdicts.find(({ kind }) => kind === "deny") ??
    verdicts.find(({ kind }) => kind === "ask") ?? { kind: "allow" }
  )
}

const lastMatch = (
  rules: readonly PermissionRule[],
  action: string,
  resource: string,
): PermissionRule | undefined =>
  rules.findLast((rule) => matchesWildcard(rule.action, action) && covers(rule, action, resource))

/**
 * A pattern for commands is matched word by word. Allowing one command allows nothing else that the shell would run with
 * it.
 */
const covers = ({ resource: pattern, effect }: PermissionRule, action: string, resource: string): boolean => {
  if (action !== "bash") return matchesWildcard(pattern, resource)
  return effect === "allow" ? allowsCommand(pattern, resource) : concernsCommand(pattern, resource)
}

/** A tool is not advertised when the last rule about it denies every resource. */
export const isDeniedEverywhere = (rules: readonly PermissionRule[], action: string): boolean => {
  const rule = rules.findLast((candidate) => matchesWildcard(candidate.action, action))
  return rule?.effect === "deny" && rule.resource === "*"
}
