/** `meridian config get|set|reset` for keys of tables: `providers.ollama.base_url`, `models.ollama/qwen3.max_output`. */
import { Failure, nearest } from "@meridian/protocol"

import { toTomlValue } from "../domain/config-template.ts"
import { setKey } from "../domain/config-text.ts"
import { readProviderTables, SECTIONS, TABLE_RULES, type TableSection } from "../domain/provider-table.ts"
import { parseToml } from "../store/config-file.ts"

export interface TableKey {
  readonly key: string
  readonly section: TableSection
  readonly name: string
  readonly field: string
}

/** Undefined if it does not look like a key of a table. Throws CONFIG_KEY_UNKNOWN for a field no table has. */
export const readTableKey = (typed: string): TableKey | undefined => {
  const found = /^(\w+)\.(?:"([^"]+)"|(.+))\.(\w+)$/.exec(typed)
  const section = SECTIONS.find((name) => name === found?.[1])
  if (found === null || section === undefined) return undefined
  const [, , quoted, plain = "", field = ""] = found
  const name = quoted ?? plain
  const rules = TABLE_RULES[section]
  const key = `${section}.${name}.${field}`
  if (Object.hasOwn(rules, field)) return { key, section, name, field }
  const meant = nearest(field, Object.keys(rules))
  throw new Failure("CONFIG_KEY_UNKNOWN", {
    key,
    ...(meant === undefined ? {} : { suggestion: `${section}.${name}.${meant}` }),
  })
}

export interface TableEdit {
  readonly after: string
  readonly value: boolean | string | number | readonly string[]
}

/**
 * The text of the file with the key set. Throws USAGE for a value the table may not have, without repeating a
 * credential.
 */
export const setTableKey = async (
  before: string,
  { key, section, name, field }: TableKey,
  given: { readonly text: string; readonly path: string; readonly source: "user" | "file" },
): Promise<TableEdit> => {
  const rule = TABLE_RULES[section][field]
  const shown = rule?.secret === true ? "<hidden>" : JSON.stringify(given.text)
  const refuse = (problem: string): Failure =>
    new Failure("USAGE", { problem, next: `run 'meridian config set ${key} VALUE' with such a value.` })
  if (rule?.fromText === undefined)
    throw new Failure("USAGE", {
      problem: `'${key}' is a table.`,
      next: `write it in ${given.path} by hand.`,
    })
  const value = rule.fromText(given.text)
  const expected = rule.problem(value, given.source)
  if (expected !== undefined) throw refuse(`'${key}' must be ${expected}, got ${shown}.`)
  const header = `[${section}.${/^[\w-]+$/.test(name) ? name : JSON.stringify(name)}]`
  const after = setKey(before, key, toTomlValue(value), header)
  const tree = await parseToml(given.path, after)
  const { wrong } = readProviderTables([{ path: given.path, source: given.source, tree, lines: new Map() }])
  const problem = wrong.find((one) => one.key.startsWith(`${section}.${name}`))
  if (problem !== undefined) throw refuse(`'${problem.key}' must be ${problem.expected}, got ${problem.got}.`)
  return { after, value }
}
