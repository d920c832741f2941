/**
 * The tables of `config.toml` that name providers and models of the engine:
 *
 *   [providers.ollama]                          a custom name, or a preset to change
 *   kind = "openai-compatible"                  the default for a name that is no preset
 *   base_url = "http://127.0.0.1:11434/v1"
 *   api_key_env = "NAME"                        the variable that holds the key
 *   api_key = "..."                             only in the file of --config, which nobody else has
 *   headers = { "x-title" = "meridian" }
 *   models = ["qwen3:8b"]
 *
 *   [models."ollama/qwen3:8b"]                  limits and prices, if the catalogue has none or others
 *   context_window = 40960
 *   max_output = 8192
 *   model = "qwen3:8b"                          the provider's name for it, if that differs
 *   input_price = 0.1                           dollars per million tokens, also output_price,
 *                                               cache_read_price and cache_write_price
 *   idle_ms = 120000                            a provider silent for so long counts as a broken connection
 *   variants = { deep = { effort = "high" } }   settings by name: `ollama/qwen3:8b:deep`
 *   hosted = ["web_search"]                     tools that the provider runs itself
 *
 * `engine-table-rules.ts` has the tables for MCP servers, references and agents.
 *
 * A later file replaces single keys of an earlier one. The error for a wrong value names its place and never shows a
 * credential.
 */

import { nearest } from "@meridian/protocol"

import type { ConfigFile, ConfigSource, UnknownKey, WrongValue } from "./config-layer.ts"
import { checkEngineRows, ENGINE_RULES, type EngineTables, type SettingsRow } from "./engine-table-rules.ts"
import { publicAddress } from "./provider-address.ts"
import { PROVIDER_PRESETS, type ProviderKind } from "./provider-preset.ts"
import { MODEL_RULES, PROVIDER_RULES } from "./provider-rules.ts"
import { isTable, type Rules, type TableValue } from "./table-rule.ts"

export interface ProviderSettings {
  readonly kind?: ProviderKind
  readonly base_url?: string
  readonly api_key_env?: string
  readonly api_key?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly models?: readonly string[]
}

export interface ModelSettings {
  readonly context_window?: number
  readonly max_output?: number
  readonly model?: string
  readonly input_price?: number
  readonly output_price?: number
  readonly cache_read_price?: number
  readonly cache_write_price?: number
  readonly idle_ms?: number
  readonly variants?: Readonly<Record<string, SettingsRow>>
  readonly hosted?: readonly ("web_search" | "web_fetch" | "code_execution")[]
}

export interface ProviderTables extends EngineTables {
  readonly providers: ReadonlyMap<string, ProviderSettings>
  readonly models: ReadonlyMap<string, ModelSettings>
  /** Providers whose address the project chose, not the user. */
  readonly foreignAddress: ReadonlySet<string>
}

/** One key as `config show` shows it: without credentials. */
export interface TableSetting {
  readonly key: string
  readonly value: TableValue
  readonly source: ConfigSource
  readonly path: string
  readonly line: number
}

export interface ReadTables {
  readonly tables: ProviderTables
  readonly shown: readonly TableSetting[]
  readonly wrong: readonly WrongValue[]
  readonly unknown: readonly UnknownKey[]
}

export const NO_TABLES: ProviderTables = {
  providers: new Map(),
  models: new Map(),
  mcp: new Map(),
  references: new Map(),
  agents: new Map(),
  foreignAddress: new Set(),
}

export const readProviderTables = (files: readonly ConfigFile[]): ReadTables => {
  const rows: Record<TableSection, Map<string, Fields>> = {
    providers: new Map(),
    models: new Map(),
    mcp: new Map(),
    references: new Map(),
    agents: new Map(),
  }
  const foreignAddress = new Set<string>()
  const shown = new Map<string, TableSetting>()
  const wrong: WrongValue[] = []
  const unknown: UnknownKey[] = []
  for (const file of files)
    for (const entry of entriesOf(file)) {
      const line = lineOf(file.lines, entry.key)
      switch (entry.tag) {
        case "row": {
          const table = rows[entry.section]
          table.set(entry.name, { ...table.get(entry.name) })
          break
        }
        case "unknown":
          unknown.push({ path: file.path, line, key: entry.key, suggestion: entry.suggestion })
          break
        case "wrong": {
          const { key, expected, got } = entry
          wrong.push({ key, where: `${file.path}:${line}`, expected, got })
          break
        }
        case "value": {
          const { section, name, field, value, key } = entry
          rows[section].set(name, { ...rows[section].get(name), [field]: value })
          shown.set(key, { key, value: entry.shown, source: file.source, path: file.path, line })
          if (field !== "base_url") break
          if (file.source === "file") foreignAddress.add(name)
          else foreignAddress.delete(name)
          break
        }
      }
    }
  // Its rule has checked every field.
  const tables: ProviderTables = { ...rows, foreignAddress }
  return { tables, shown: [...shown.values()], wrong: [...wrong, ...checkTogether(tables, files)], unknown }
}

type Fields = Readonly<Record<string, unknown>>
export type TableSection = "providers" | "models" | keyof EngineTables

type Entry =
  | { readonly tag: "row"; readonly key: string; readonly section: TableSection; readonly name: string }
  | { readonly tag: "unknown"; readonly key: string; readonly suggestion: string | undefined }
  | { readonly tag: "wrong"; readonly key: string; readonly expected: string; readonly got: string }
  | {
      readonly tag: "value"
      readonly key: string
      readonly section: TableSection
      readonly name: string
      readonly field: string
      readonly value: unknown
      readonly shown: TableValue
    }

export const TABLE_RULES: Readonly<Record<TableSection, Rules>> = {
  providers: PROVIDER_RULES,
  models: MODEL_RULES,
  ...ENGINE_RULES,
}

export const SECTIONS = ["providers", "models", "mcp", "references", "agents"] as const

function* entriesOf(file: ConfigFile): Generator<Entry> {
  for (const section of SECTIONS) {
    const tree = isTable(file.tree) ? file.tree[section] : undefined
    if (tree === undefined) continue
    if (!isTable(tree)) {
      yield { tag: "wrong", key: section, expected: "a table of tables", got: show(tree) }
      continue
    }
    for (const [name, row] of Object.entries(tree)) {
      const key = `${section}.${name}`
      if (!isTable(row)) {
        // This may be a credential that lost its table, so its value is not repeated.
        yield {
          tag: "wrong",
          key,
          expected: "a table",
          got: Array.isArray(row) ? "a list" : `a ${typeof row}`,
        }
        continue
      }
      yield { tag: "row", key, section, name }
      for (const [field, value] of Object.entries(row))
        yield readField({ section, name, field, value, source: file.source })
    }
  }
}

const readField = (given: {
  readonly section: TableSection
  readonly name: string
  readonly field: string
  readonly value: unknown
  readonly source: ConfigFile["source"]
}): Entry => {
  const { section, name, field, value, source } = given
  const rules = TABLE_RULES[section]
  const key = `${section}.${name}.${field}`
  const rule = Object.hasOwn(rules, field) ? rules[field] : undefined
  if (rule === undefined) {
    const meant = nearest(field, Object.keys(rules))
    return {
      tag: "unknown",
      key,
      suggestion: meant === undefined ? undefined : `${section}.${name}.${meant}`,
    }
  }
  const expected = rule.problem(value, source)
  if (expected !== undefined)
    return {
      tag: "wrong",
      key,
      expected,
      got: rule.secret === true ? "<hidden>" : show(withoutCredentials(value)),
    }
  return { tag: "value", key, section, name, field, value, shown: rule.shown(value) }
}

/** Problems that only whole rows can show. */
const checkTogether = (tables: ProviderTables, files: readonly ConfigFile[]): readonly WrongValue[] => {
  const wrong = (key: string, expected: string, got: string): WrongValue => {
    const file = files.findLast(({ lines }) => [...lines.keys()].some((name) => name.startsWith(key)))
    return { key, where: `${file?.path}:${lineOf(file?.lines ?? new Map(), key)}`, expected, got }
  }
  const names = [...new Set([...Object.keys(PROVIDER_PRESETS), ...tables.providers.keys()])]
  const bad = [...tables.providers.keys()].filter((name) => !/^[\w-]{1,64}$/.test(name))
  return [
    ...checkEngineRows(tables).map(({ key, expected, got }) => wrong(key, expected, show(got))),
    ...bad.map((name) => wrong(`providers.${name}`, "named with letters, digits, - and _", show(name))),
    ...[...tables.models].flatMap(([id, row]) => {
      const provider = id.slice(0, Math.max(0, id.indexOf("/")))
      if (!names.includes(provider) || id.length === provider.length + 1)
        return [
          wrong(`models.${id}`, `named provider/model, the provider one of ${names.join(", ")}`, show(id)),
        ]
      const { context_window: window, max_output: output } = row
      if (window !== undefined && output !== undefined && output > window)
        return [wrong(`models.${id}.max_output`, `at most its context_window (${window})`, String(output))]
      return []
    }),
  ]
}

const withoutCredentials = (value: unknown): unknown =>
  typeof value === "string" ? publicAddress(value) : value

const lineOf = (lines: ReadonlyMap<string, number>, key: string): number =>
  lines.get(key) ??
  [...lines].find(([name]) => name.startsWith(`${key}.`))?.[1] ??
  lines.get(key.slice(0, key.lastIndexOf("."))) ??
  lines.get(key.split(".")[0] ?? "") ??
  1

const show = (value: unknown): string => {
  const shown = typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? "nothing")
  return shown.length > 80 ? `${shown.slice(0, 77)}...` : shown
}
