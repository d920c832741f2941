/** Layers of configuration: defaults < the user's file < the project's < --config or MERIDIAN_CONFIG < variables. */
import { nearest } from "@meridian/protocol"

import {
  isOptionKey,
  OPTION_KEYS,
  optionOf,
  type Config,
  type OptionKey,
  type OptionValue,
} from "./config-option.ts"
import { checkOptionValue, readOptionText } from "./config-value.ts"
import { isTable } from "./table-rule.ts"

/**
 * The words `config show` uses: `user` is the user's own file, `file` the project's, `user-config` the file of
 * --config.
 */
export const CONFIG_SOURCES = ["builtin", "user", "file", "user-config", "env var"] as const
export type ConfigSource = (typeof CONFIG_SOURCES)[number]

export interface Setting {
  readonly value: OptionValue | undefined
  readonly source: ConfigSource
  /** The file that set it. */
  readonly path?: string
  readonly line?: number
  readonly variable?: string
}

export type Settings = ReadonlyMap<OptionKey, Setting>

export interface ConfigFile {
  readonly path: string
  readonly source: Extract<ConfigSource, "user" | "file" | "user-config">
  /** The parsed TOML. */
  readonly tree: unknown
  /** `section.name` -> 1-based line. */
  readonly lines: ReadonlyMap<string, number>
}

/** The tables of agents that speak the Agent Client Protocol; `acp-agents.ts` reads them. */
export const ACP_KEY = "harness.acp"

/** Sections whose keys are names the user chooses; `provider-table.ts` reads them. */
export const TABLE_SECTIONS: ReadonlySet<string> = new Set([
  "providers",
  "models",
  "mcp",
  "references",
  "agents",
])

export interface Layered {
  readonly settings: Settings
  readonly unknown: readonly UnknownKey[]
  readonly wrong: readonly WrongValue[]
}

export interface UnknownKey {
  readonly path: string
  readonly line: number
  readonly key: string
  readonly suggestion: string | undefined
}

export interface WrongValue {
  readonly key: string
  /** `path:line`, or the name of a variable. */
  readonly where: string
  readonly expected: string
  readonly got: string
}

export const layerConfig = (
  files: readonly ConfigFile[],
  env: Readonly<Record<string, string | undefined>>,
): Layered => {
  const settings = new Map<OptionKey, Setting>(
    OPTION_KEYS.map((key) => [key, { value: optionOf(key).default, source: "builtin" }]),
  )
  const unknown: UnknownKey[] = []
  const wrong: WrongValue[] = []
  for (const file of files)
    for (const [key, value] of leavesOf(file.tree)) {
      const line = lineOf(file.lines, key)
      // `acp-agents.ts` reads these. A project's file names no programs.
      if (key === ACP_KEY && file.source !== "file") continue
      if (!isOptionKey(key)) {
        unknown.push({ path: file.path, line, key, suggestion: nearest(key, OPTION_KEYS) })
        continue
      }
      const checked = checkOptionValue(key, value)
      if (checked.tag === "value")
        settings.set(key, { value: checked.value, source: file.source, path: file.path, line })
      else wrong.push({ key, where: `${file.path}:${line}`, expected: checked.expected, got: show(value) })
    }
  for (const key of OPTION_KEYS) {
    const { variable } = optionOf(key)
    const text = variable === undefined ? undefined : env[variable]
    if (variable === undefined || text === undefined || text === "") continue
    const checked = readOptionText(key, text)
    if (checked.tag === "value") settings.set(key, { value: checked.value, source: "env var", variable })
    else wrong.push({ key, where: variable, expected: checked.expected, got: show(text) })
  }
  return { settings, unknown, wrong }
}

export const configOf = (settings: Settings): Config =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every key is set and was checked against its option
  Object.fromEntries([...settings].map(([key, setting]) => [key, setting.value])) as unknown as Config

/** Sections are one level deep. A deeper value, or one outside a section, is reported under its own path. */
const leavesOf = (tree: unknown): readonly (readonly [key: string, value: unknown])[] =>
  isTable(tree)
    ? Object.entries(tree).flatMap(([section, inner]) =>
        TABLE_SECTIONS.has(section)
          ? []
          : isTable(inner)
            ? Object.entries(inner).map(([name, value]) => [`${section}.${name}`, value] as const)
            : [[section, inner] as const],
      )
    : []

/** The line of the key itself, else of its section (an inline table), else the first line. */
const lineOf = (lines: ReadonlyMap<string, number>, key: string): number => {
  const exact = lines.get(key)
  if (exact !== undefined) return exact
  const deeper = [...lines].find(([name]) => name.startsWith(`${key}.`))?.[1]
  return deeper ?? lines.get(key.split(".")[0] ?? "") ?? 1
}

const show = (value: unknown): string => {
  const text = typeof value === "bigint" ? String(value) : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}
