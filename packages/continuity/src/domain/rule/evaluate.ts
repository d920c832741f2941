/** Which rules apply now. Pure and bounded: hostile globs and keywords use up an effort budget, never the caller's time. */
import { matchesGlob, matchesGlobs, splitPath, type Effort, type SplitPath } from "./glob.ts"
import type { Conditions, Pattern, Rule } from "./rule.ts"

/** What is known before a request. An unknown value makes its condition fail. */
export interface Situation {
  readonly paths: readonly string[]
  readonly prompt?: string | undefined
  readonly tools?: readonly string[] | undefined
  /** The model's id, with and without its provider. */
  readonly models?: readonly string[] | undefined
  readonly agent?: string | undefined
  readonly command?: string | undefined
  readonly projects?: readonly string[] | undefined
  readonly branch?: string | undefined
  readonly os?: string | undefined
  readonly ci?: boolean | undefined
}

export interface Evaluation {
  readonly active: readonly Rule[]
  /** Rules whose conditions cost too much to check. They are inactive. */
  readonly tooCostly: readonly Rule[]
}

/** Steps of matching, per rule and for all rules: some milliseconds. */
export const EVALUATION_EFFORT = { rule: 25_000, all: 100_000 } as const

const PROMPT_LIMIT = 32 * 1024

export const evaluateRules = (rules: readonly Rule[], situation: Situation): Evaluation => {
  const active: Rule[] = []
  const tooCostly: Rule[] = []
  let left: number = EVALUATION_EFFORT.all
  const prompt = situation.prompt?.slice(0, PROMPT_LIMIT).normalize("NFC").toLowerCase()
  const prepared: Prepared = { ...situation, prompt, split: situation.paths.map(splitPath) }
  for (const rule of rules) {
    if (rule.activation.kind === "always") active.push(rule)
    if (rule.activation.kind !== "when") continue
    const given = Math.min(left, EVALUATION_EFFORT.rule)
    const effort: Effort = { left: given }
    const { conditions, match } = rule.activation
    const holds =
      match === "any" ? anyHolds(conditions, prepared, effort) : allHold(conditions, prepared, effort)
    left -= given - effort.left
    if (effort.left <= 0) tooCostly.push(rule)
    else if (holds) active.push(rule)
  }
  return { active, tooCostly }
}

const anyHolds = (conditions: Conditions, situation: Prepared, effort: Effort): boolean =>
  namesOf(conditions).some((name) => CHECKS[name](conditions, situation, effort))

const allHold = (conditions: Conditions, situation: Prepared, effort: Effort): boolean =>
  namesOf(conditions).every((name) => CHECKS[name](conditions, situation, effort))

type Name = keyof Conditions
type Check = (conditions: Conditions, situation: Prepared, effort: Effort) => boolean

interface Prepared extends Situation {
  readonly split: readonly SplitPath[]
}

const CHECKS = {
  ci: ({ ci }, situation) => ci === situation.ci,
  os: ({ os }, situation) =>
    os?.some((name) => OS_NAMES[name.toLowerCase()] === situation.os || name === situation.os) === true,
  agent: ({ agent }, situation) => includes(agent, situation.agent),
  command: ({ command }, situation) =>
    includes(
      command?.map((name) => name.replace(/^\//, "")),
      situation.command?.replace(/^\//, ""),
    ),
  project: ({ project }, situation) => intersects(project, situation.projects),
  tools: ({ tools }, situation) => intersects(tools, situation.tools),
  model: ({ model }, situation, effort) =>
    situation.models?.some((name) => matchesPatterns(model, name, effort)) === true,
  branch: ({ branch }, situation, effort) => matchesPatterns(branch, situation.branch, effort),
  keywords: ({ keywords }, situation, effort) =>
    keywords?.some((keyword) => hasWord(situation.prompt ?? "", keyword, effort)) === true,
  globs: ({ globs }, situation, effort) => matchesGlobs(globs ?? [], situation.split, effort),
} as const satisfies Record<Name, Check>

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table above has a check for every key of Conditions
const namesOf = (conditions: Conditions): readonly Name[] => Object.keys(conditions) as Name[]

/** Common names, and the runtime's names for them. */
const OS_NAMES: Readonly<Record<string, string>> = { macos: "darwin", mac: "darwin", windows: "win32" }

const includes = (list: readonly string[] | undefined, value: string | undefined): boolean =>
  value !== undefined && value !== "" && list?.includes(value) === true

const intersects = (list: readonly string[] | undefined, values: readonly string[] | undefined): boolean =>
  list?.some((item) => values?.includes(item) === true) === true

const matchesPatterns = (
  patterns: readonly Pattern[] | undefined,
  value: string | undefined,
  effort: Effort,
): boolean =>
  value !== undefined &&
  value !== "" &&
  patterns?.some(({ text, glob }) => text === value || matchesGlob(glob, splitPath(value), effort)) === true

const WORD = /[\p{L}\p{N}_]/u

/** A word of the text starts with the keyword. A keyword that starts with a symbol may be anywhere. */
const hasWord = (text: string, keyword: string, effort: Effort): boolean => {
  const wanted = keyword.normalize("NFC").toLowerCase()
  const [first = ""] = wanted
  const mustBegin = WORD.test(first)
  let at = text.indexOf(wanted)
  // A plain search covers a thousand characters in the time of one step.
  effort.left -= 1 + (text.length >> 10)
  while (at !== -1 && effort.left > 0) {
    if (!mustBegin || !WORD.test(lastSign(text, at))) return true
    effort.left -= 1 + wanted.length
    at = text.indexOf(wanted, at + 1)
  }
  return false
}

/** The character that ends before `at`, including both halves of a surrogate pair. */
const lastSign = (text: string, at: number): string => {
  const low = text.charCodeAt(at - 1)
  return low >= 0xdc00 && low <= 0xdfff
    ? text.slice(Math.max(0, at - 2), at)
    : text.slice(Math.max(0, at - 1), at)
}
