/** The options of the user. Names are fixed; unknown or ill-typed options are reported and ignored. */
import { RULE_TOKENS, TEXT_LIMITS } from "@meridian/continuity"

export interface Options {
  readonly brief: boolean
  readonly rules: boolean
  readonly workingSet: boolean
  readonly launchRecord: boolean
  readonly pin: boolean
  readonly silentMessages: boolean
  readonly debug: boolean
  readonly maxBriefTokens: number
  readonly maxRuleTokens: number
}

export const DEFAULTS: Options = {
  brief: true,
  rules: true,
  workingSet: true,
  launchRecord: true,
  pin: true,
  silentMessages: false,
  debug: false,
  maxBriefTokens: TEXT_LIMITS.briefTokens,
  maxRuleTokens: RULE_TOKENS,
}

const MAX_TOKENS = 100_000

export interface ReadOptions {
  readonly options: Options
  readonly problems: readonly string[]
}

/** The plugin's argument first, then the environment: a setting for one run wins over the configuration. */
export const readOptions = (given: unknown, environment: string | undefined): ReadOptions => {
  const parsed = parseEnvironment(environment)
  const sources = [
    { name: "plugin options", value: given },
    { name: "MERIDIAN_PLUGIN_OPTIONS", value: parsed.value },
  ]
  const problems: string[] = [...parsed.problems]
  const accepted: [key: string, value: unknown][] = []
  for (const { name, value } of sources) {
    if (value === undefined || value === null) continue
    if (typeof value !== "object" || Array.isArray(value)) {
      problems.push(`${name}: expected an object, ignored`)
      continue
    }
    for (const [key, setting] of Object.entries(value).slice(0, 100)) {
      const problem = problemOf(key, setting)
      if (problem === undefined) accepted.push([key, setting])
      else problems.push(`${name}: ${problem}, ignored`)
    }
  }
  return { options: { ...DEFAULTS, ...Object.fromEntries(accepted) }, problems }
}

const problemOf = (key: string, value: unknown): string | undefined => {
  const shown = key.slice(0, 60)
  if (!isOption(key)) return `unknown option "${shown}"`
  if (typeof DEFAULTS[key] === "boolean")
    return typeof value === "boolean" ? undefined : `option "${shown}" must be true or false`
  const fits = typeof value === "number" && Number.isInteger(value) && value > 0 && value <= MAX_TOKENS
  return fits ? undefined : `option "${shown}" must be a whole number from 1 to ${MAX_TOKENS}`
}

const isOption = (key: string): key is keyof Options => Object.hasOwn(DEFAULTS, key)

const parseEnvironment = (
  text: string | undefined,
): { readonly value: unknown; readonly problems: readonly string[] } => {
  if (text === undefined || text.trim() === "") return { value: undefined, problems: [] }
  try {
    // oxlint-disable-next-line no-restricted-properties -- the reader above takes unknown values
    return { value: JSON.parse(text), problems: [] }
  } catch {
    return { value: undefined, problems: ["MERIDIAN_PLUGIN_OPTIONS: not JSON, ignored"] }
  }
}
