/** `meridian config show|get|set|reset`. */
import { mkdir } from "node:fs/promises"

import { Failure } from "@meridian/protocol"

import type { Setting, Settings } from "../domain/config-layer.ts"
import { OPTION_KEYS, resolveOptionKey, type OptionKey } from "../domain/config-option.ts"
import { configTemplate, toTomlValue } from "../domain/config-template.ts"
import { removeKey, setKey } from "../domain/config-text.ts"
import { readOptionText } from "../domain/config-value.ts"
import { nearest } from "../domain/nearest.ts"
import {
  configPath,
  createConfigFile,
  loadConfig,
  readConfigText,
  writeConfigEdit,
  type LoadedConfig,
} from "../store/config-file.ts"
import { openPlace } from "../store/place.ts"
import type { TableKey } from "./config-table.ts"
import { CONFIG_GET, CONFIG_RESET, CONFIG_SET, CONFIG_SHOW } from "./config.meta.ts"
import { implement } from "./operation.ts"
import type { World } from "./world.ts"

/** What every operation that needs configuration calls: warns about unknown keys, fails on wrong values. */
export const readConfig = async (
  world: Pick<World, "env" | "cwd" | "configPath" | "warn">,
): Promise<LoadedConfig> => {
  const { root } = openPlace(world.env, world.cwd)
  const loaded = await loadConfig({ root, cwd: world.cwd, env: world.env, configPath: world.configPath })
  for (const { facts } of loaded.warnings) world.warn("CONFIG_KEY_UNKNOWN", facts)
  return loaded
}

export const configShow = implement(CONFIG_SHOW, {
  run: async (_input, world) => {
    const { settings, tableSettings, overlay } = await readConfig(world)
    const { root } = openPlace(world.env, world.cwd)
    return {
      path: configPath(root),
      ...(overlay === undefined ? {} : { overlay }),
      values: [
        ...OPTION_KEYS.map((key) => settingDocument(key, settingOf(settings, key))),
        ...tableSettings.map(({ key, value, source, path, line }) => ({ key, value, source, path, line })),
      ],
    }
  },
  text: ({ values }) =>
    values
      .map(({ key, value, source, env_var: variable }) => {
        const from = variable === undefined ? source : `${source} (${variable})`
        return `${key}: ${value === undefined ? "unset" : show(value)} [source: ${from}]`
      })
      .join("\n"),
})

export const configGet = implement(CONFIG_GET, {
  run: async ({ key: typed }, world) => {
    const table = await findTableKey(typed)
    const { settings, tableSettings } = await readConfig(world)
    if (table === undefined) {
      const key = requireKey(typed)
      return settingDocument(key, settingOf(settings, key))
    }
    const found = tableSettings.find(({ key }) => key === table.key)
    return {
      key: table.key,
      source: found?.source ?? "builtin",
      ...(found === undefined ? {} : { value: found.value, path: found.path, line: found.line }),
    }
  },
  text: ({ value }) => (value === undefined ? "unset" : show(value)),
})

export const configSet = implement(CONFIG_SET, {
  run: async ({ key: typed, value: text }, world) => {
    const table = await findTableKey(typed)
    const { root } = openPlace(world.env, world.cwd)
    const path = configPath(root)
    if (table !== undefined) {
      const { setTableKey } = await import("./config-table.ts")
      // Nothing is made for a value that is refused.
      await setTableKey((await readConfigText(path)) ?? "", table, { text, path })
      const before = await openForEdit(root)
      const { after, value } = await setTableKey(before, table, { text, path })
      const { key, section, name, field } = table
      await writeConfigEdit({ path, before, after, key, parts: [section, name, field], expected: value })
      return { key, path, value }
    }
    const key = requireKey(typed)
    const read = readOptionText(key, text)
    if (read.tag === "wrong")
      throw new Failure("USAGE", {
        problem: `'${key}' must be ${read.expected}, got ${JSON.stringify(text)}.`,
        next: `run 'meridian config set ${key} VALUE' with such a value.`,
      })
    const before = await openForEdit(root)
    const after = setKey(before, key, toTomlValue(read.value))
    await writeConfigEdit({ path, before, after, key, expected: read.value })
    return { key, path, value: read.value }
  },
  text: ({ key, path, value }) => `set ${key} = ${show(value)} in ${path}`,
})

export const configReset = implement(CONFIG_RESET, {
  run: async ({ key: typed }, world) => {
    const table = await findTableKey(typed)
    const key = table?.key ?? requireKey(typed)
    const { root } = openPlace(world.env, world.cwd)
    const path = configPath(root)
    const before = (await readConfigText(path)) ?? ""
    const after = removeKey(before, key)
    const parts = table === undefined ? key.split(".") : [table.section, table.name, table.field]
    await writeConfigEdit({ path, before, after, key, parts, expected: undefined })
    return { key, path, removed: before !== after }
  },
  text: ({ key, path, removed }) => `reset ${key} (${removed ? "removed" : "already-default"}) in ${path}`,
})

const findTableKey = async (typed: string): Promise<TableKey | undefined> =>
  /^(providers|models)\./.test(typed) ? (await import("./config-table.ts")).readTableKey(typed) : undefined

/** The text of config.toml, which is made first when there is none. */
const openForEdit = async (root: string): Promise<string> => {
  await mkdir(root, { recursive: true })
  await createConfigFile(configPath(root), configTemplate())
  return (await readConfigText(configPath(root))) ?? ""
}

const requireKey = (typed: string): OptionKey => {
  const key = resolveOptionKey(typed)
  if (key !== undefined) return key
  const suggestion = nearest(typed, [
    ...OPTION_KEYS,
    ...OPTION_KEYS.map((known) => known.split(".")[1] ?? known),
  ])
  throw new Failure("CONFIG_KEY_UNKNOWN", { key: typed, ...(suggestion === undefined ? {} : { suggestion }) })
}

const settingOf = (settings: Settings, key: OptionKey): Setting =>
  settings.get(key) ?? { value: undefined, source: "builtin" }

const settingDocument = (key: OptionKey, setting: Setting) => ({
  key,
  source: setting.source,
  ...(setting.value === undefined ? {} : { value: setting.value }),
  ...(setting.path === undefined ? {} : { path: setting.path }),
  ...(setting.line === undefined ? {} : { line: setting.line }),
  ...(setting.variable === undefined ? {} : { env_var: setting.variable }),
})

const show = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))
