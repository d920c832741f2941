/** Turns an issue of the library into our problem. */
import type { BaseIssue } from "valibot"

import { oneLine } from "../plain-text.ts"
import type { Problem } from "./problem.ts"

type Issue = BaseIssue<unknown>

export const findProblem = (issue: Issue): Problem => {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === "number" ? key : String(key)))
  const last = issue.path?.at(-1)
  if (last?.origin === "key") return keyProblem(issue, path)
  if (last !== undefined && last.value === undefined) return { path, kind: "missing" }
  const inner = deepest(issue.issues ?? [])
  if (inner !== undefined) return { ...inner, path: [...path, ...inner.path] }
  return { path, kind: "wrong", expected: issue.message, got: describe(issue) }
}

/**
 * The message is the name that was probably meant (`objectWords`). A misspelt key is reported instead of the missing one.
 */
const keyProblem = (issue: Issue, path: Problem["path"]): Problem => {
  const other = issue.message
  if (issue.expected === "never") return { path, kind: "unknown", meant: other === "" ? undefined : other }
  if (other === "") return { path, kind: "missing" }
  return { path: [...path.slice(0, -1), other], kind: "unknown", meant: String(path.at(-1)) }
}

/** Of several attempted forms, the one that matched deepest was probably meant. Undefined when all failed at the top. */
const deepest = (issues: readonly Issue[]): Problem | undefined =>
  issues
    .map(findProblem)
    .filter(({ path }) => path.length > 0)
    .toSorted((one, other) => other.path.length - one.path.length)[0]

/** For these types the value is wrong, not its kind. */
const BY_VALUE: ReadonlySet<string> = new Set([
  "picklist",
  "integer",
  "min_value",
  "max_value",
  "gt_value",
  "regex",
])

const describe = ({ input, message, type }: Issue): string => {
  if (typeof input === "string" && (type === "min_length" || type === "max_length"))
    return input === "" ? "empty" : `text of ${input.length} characters`
  if (Array.isArray(input) && type === "max_length") return `one of ${input.length}`
  const isTag = type === "variant" && message !== "an object"
  if ((isTag || BY_VALUE.has(type)) && (typeof input === "string" || typeof input === "number"))
    return JSON.stringify(typeof input === "string" ? oneLine(input, 60) : input)
  return kindOf(input)
}

const kindOf = (value: unknown): string => {
  if (value === null) return "null"
  if (value === undefined) return "absent"
  if (Array.isArray(value)) return "a list"
  if (typeof value === "string") return "text"
  if (typeof value === "boolean") return "true or false"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}
