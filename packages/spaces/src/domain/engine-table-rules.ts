/**
 * The tables an engine is opened with, besides its models:
 *
 *   [mcp.NAME]          command = ["program", "word"]  or  url = "https://..."
 *   [references.NAME]   path = "../library"
 *   [agents.NAME]       description, prompt, tools, permissions, model, steps, mode, hidden and the five settings
 *
 * The names of the fields are those of the engine's options, in snake case.
 */
import { EFFORTS, type ModelEffort } from "@meridian/protocol"

import { publicAddress } from "./provider-address.ts"
import {
  isHeader,
  isText,
  isTable,
  rule,
  SECRET_NAME,
  toNumber,
  type Rules,
  type TableRule,
} from "./table-rule.ts"

export type PermissionRuleRow = {
  readonly action: string
  readonly resource: string
  readonly effect: "allow" | "ask" | "deny"
}

export interface SettingsRow {
  readonly effort?: ModelEffort
  readonly temperature?: number
  readonly top_p?: number
  readonly max_output_tokens?: number
  readonly options?: Readonly<Record<string, unknown>>
}

export interface McpRow {
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly directory?: string
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly bearer_token_env?: string
  readonly client_id?: string
  readonly client_secret_env?: string
  readonly issuer?: string
  readonly scope?: string
  readonly enabled?: boolean
}

export interface ReferenceRow {
  readonly path?: string
  readonly description?: string
}

export interface AgentRow extends SettingsRow {
  readonly description?: string
  readonly prompt?: string
  readonly tools?: readonly string[]
  readonly permissions?: readonly PermissionRuleRow[]
  readonly model?: string
  readonly steps?: number
  readonly mode?: "primary" | "sub" | "all"
  readonly hidden?: boolean
  readonly recovery?: "settle" | "continue"
}

const WORDS = 64
const WORD_CHARACTERS = 4_096
const MOST_RULES = 200

const isShort = (value: unknown): value is string => isText(value) && value.length <= WORD_CHARACTERS

const TEXT = rule(isShort, "a text that is not empty")

const texts = (expected: string): TableRule => ({
  problem: (value) =>
    Array.isArray(value) && value.length <= MOST_RULES && value.every(isShort) ? undefined : expected,
  shown: (value) => (Array.isArray(value) ? value.map(String) : []),
  fromText: (typed) =>
    typed
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== ""),
})

const TRUTH: TableRule = {
  problem: (value) => (typeof value === "boolean" ? undefined : "true or false"),
  shown: (value) => value === true,
  fromText: (typed) => (typed === "true" ? true : typed === "false" ? false : typed),
}

const number = (least: number, most: number, expected: string, whole = false): TableRule => ({
  problem: (value) =>
    typeof value === "number" && value >= least && value <= most && (!whole || Number.isSafeInteger(value))
      ? undefined
      : expected,
  shown: Number,
  fromText: toNumber,
})

const choice = (...words: readonly string[]): TableRule =>
  rule((value) => words.some((word) => word === value), `one of ${words.join(", ")}`)

const VARIABLE: TableRule = {
  ...rule(
    (value) => isText(value) && /^[A-Z_][A-Z0-9_]{0,99}$/.test(value),
    "the name of an environment variable, in capitals",
  ),
  // If a user mistakes this for the credential itself, an error must not show it.
  secret: true,
}

const isHttp = (value: string): boolean => /^https?:\/\/[^\s/?#]+\S*$/i.test(value)

const ADDRESS: TableRule = {
  problem: (value) => (isText(value) && isHttp(value) ? undefined : "an http or https address"),
  shown: (value) => publicAddress(String(value)),
  fromText: (typed) => typed,
}

const hiddenMap = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isTable(value) ? value : {}).map(([name, content]) => [
      name,
      SECRET_NAME.test(name) ? "<hidden>" : String(content),
    ]),
  )

const EFFECTS = ["allow", "ask", "deny"] as const

export const isPermissionRules = (value: unknown): value is readonly PermissionRuleRow[] =>
  Array.isArray(value) && value.length <= MOST_RULES && value.every(isPermissionRule)

const isPermissionRule = (value: unknown): boolean =>
  isTable(value) &&
  Object.keys(value).length === 3 &&
  isShort(value["action"]) &&
  isShort(value["resource"]) &&
  EFFECTS.some((effect) => effect === value["effect"])

export const PERMISSION_RULES_EXPECTED =
  'a list of { action = "bash", resource = "git *", effect = "allow" }, the effect allow, ask or deny'

/** `allow bash git *, deny edit secrets/*`: effect, action, and everything after them as the resource. */
export const readPermissionRules = (typed: string): readonly PermissionRuleRow[] | undefined => {
  const rows = typed
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => {
      const [, effect = "", action = "", resource = ""] = /^(\S+)\s+(\S+)\s+(.+)$/s.exec(part) ?? []
      return { action, resource, effect }
    })
  return isPermissionRules(rows) ? rows : undefined
}

const PERMISSIONS: TableRule = {
  problem: (value) => (isPermissionRules(value) ? undefined : PERMISSION_RULES_EXPECTED),
  shown: (value) => (isPermissionRules(value) ? value.map(ruleWords) : []),
  fromText: undefined,
}

export const ruleWords = ({ effect, action, resource }: PermissionRuleRow): string =>
  `${effect} ${action} ${resource}`

const SETTINGS: Rules = {
  effort: choice(...EFFORTS),
  temperature: number(0, 2, "a number from 0 to 2"),
  top_p: number(0, 1, "a number from 0 to 1"),
  max_output_tokens: number(1, Number.MAX_SAFE_INTEGER, "a whole number of tokens above 0", true),
  options: {
    problem: (value) => (isTable(value) ? undefined : "a table of the provider's own options"),
    shown: (value) => JSON.stringify(value),
    fromText: undefined,
  },
}

export const ENGINE_RULES = {
  mcp: {
    command: {
      ...texts("a list of words, the program first"),
      problem: (value) =>
        Array.isArray(value) && value.length > 0 && value.length <= WORDS && value.every(isShort)
          ? undefined
          : "a list of words, the program first",
    },
    args: texts("a list of words"),
    env: {
      problem: (value) =>
        isTable(value) && Object.values(value).every((text) => typeof text === "string")
          ? undefined
          : "a table of variables and texts",
      shown: hiddenMap,
      fromText: undefined,
      secret: true,
    },
    directory: TEXT,
    url: ADDRESS,
    headers: {
      problem: (value, source) => {
        if (!isTable(value) || !Object.entries(value).every(isHeader))
          return "a table of header names and texts"
        return source === "file" && Object.keys(value).some((name) => SECRET_NAME.test(name))
          ? "without credentials in a file of the project: name the variable with bearer_token_env"
          : undefined
      },
      shown: hiddenMap,
      fromText: undefined,
      secret: true,
    },
    bearer_token_env: VARIABLE,
    client_id: TEXT,
    client_secret_env: VARIABLE,
    issuer: ADDRESS,
    scope: TEXT,
    enabled: TRUTH,
  },
  references: { path: TEXT, description: TEXT },
  agents: {
    description: TEXT,
    prompt: rule(isText, "a text that is not empty"),
    tools: texts("a list of names or patterns such as git_*"),
    permissions: PERMISSIONS,
    model: TEXT,
    steps: number(1, Number.MAX_SAFE_INTEGER, "a whole number above 0", true),
    mode: choice("primary", "sub", "all"),
    hidden: TRUTH,
    recovery: choice("settle", "continue"),
    ...SETTINGS,
  },
} as const satisfies Readonly<Record<string, Rules>>

const HOSTED_TOOLS = ["web_search", "web_fetch", "code_execution"] as const

/** Tools of one model that its provider runs. */
export const HOSTED: TableRule = {
  ...texts(`a list of ${HOSTED_TOOLS.join(", ")}`),
  problem: (value) =>
    Array.isArray(value) && value.every((name) => HOSTED_TOOLS.some((known) => known === name))
      ? undefined
      : `a list of ${HOSTED_TOOLS.join(", ")}`,
}

/** Named settings of one model: `variants = { deep = { effort = "high" } }`. */
export const VARIANTS: TableRule = {
  problem: (value) =>
    isTable(value) && Object.values(value).every(isSettings)
      ? undefined
      : "a table of names, each with effort, temperature, top_p, max_output_tokens or options",
  shown: (value) => JSON.stringify(value),
  fromText: undefined,
}

const isSettings = (value: unknown): boolean =>
  isTable(value) &&
  Object.entries(value).every(([name, field]) => {
    const found = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined
    return found !== undefined && found.problem(field, "user") === undefined
  })

export interface EngineTables {
  readonly mcp: ReadonlyMap<string, McpRow>
  readonly references: ReadonlyMap<string, ReferenceRow>
  readonly agents: ReadonlyMap<string, AgentRow>
}

export interface RowProblem {
  readonly key: string
  readonly expected: string
  readonly got: string
}

/** Problems that only whole rows can show. */
export const checkEngineRows = ({ mcp, references, agents }: EngineTables): readonly RowProblem[] => [
  ...[...mcp].flatMap(([name, row]) => checkServer(`mcp.${name}`, name, row)),
  ...[...references].flatMap(([name, { path }]) =>
    path === undefined
      ? [{ key: `references.${name}`, expected: "a table with a path", got: "none" }]
      : checkName(`references.${name}`, name),
  ),
  ...[...agents.keys()].flatMap((name) => checkName(`agents.${name}`, name)),
]

const checkServer = (key: string, name: string, row: McpRow): readonly RowProblem[] => {
  const { command, url } = row
  const account = [row.client_id, row.client_secret_env, row.issuer].filter((part) => part !== undefined)
  if ((command === undefined) === (url === undefined))
    return [{ key, expected: "a command or a url", got: command === undefined ? "neither" : "both" }]
  if (account.length > 0 && account.length < 3)
    return [{ key, expected: "client_id, client_secret_env and issuer together", got: "some of them" }]
  return checkName(key, name)
}

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/

const checkName = (key: string, name: string): readonly RowProblem[] =>
  NAME.test(name)
    ? []
    : [{ key, expected: "named with letters, digits, '.', '_' and '-'", got: name.slice(0, 80) }]
