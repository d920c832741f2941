/** `meridian config show|get|set|reset`. */
import { mkdir } from "node:fs/promises"
import { dirname } from "node:path"

import { Failure, nearest } from "@meridian/protocol"

import type { IgnoredClaim } from "../domain/config-claims.ts"
import { TABLE_SECTIONS, type Setting, type Settings } from "../domain/config-layer.ts"
import { OPTION_KEYS, resolveOptionKey, type OptionKey, type OptionValue } from "../domain/config-option.ts"
import { configTemplate, toTomlValue } from "../domain/config-template.ts"
import { removeKey, setKey } from "../domain/config-text.ts"
import { readOptionText } from "../domain/config-value.ts"
import {
  configPath,
  createConfigFile,
  loadConfig,
  readConfigText,
  userRoot,
  writeConfigEdit,
  type LoadedConfig,
} from "../store/config-file.ts"
import { openPlace } from "../store/place.ts"
import { readTrustBook } from "../store/trust-store.ts"
import { trustFile, userConfigFile } from "../store/user-place.ts"
import type { TableKey } from "./config-table.ts"
import { CONFIG_GET, CONFIG_RESET, CONFIG_SET, CONFIG_SHOW } from "./config.meta.ts"
import { folderOf, trustOf } from "./folder-trust.ts"
import { implement } from "./operation.ts"
import type { World } from "./world.ts"

/**
 * Called by every operation that needs configuration. Warns about unknown keys and about project values that do not
 * count. Fails on wrong values.
 */
export const readConfig = async (
  world: Pick<World, "env" | "cwd" | "configPath" | "warn">,
): Promise<LoadedConfig> => {
  const place = openPlace(world.env, world.cwd)
  const loaded = await loadConfig({
    root: place.root,
    cwd: world.cwd,
    env: world.env,
    configPath: world.configPath,
    trust: trustOf(place, world.env),
  })
  for (const { facts } of loaded.warnings) world.warn("CONFIG_KEY_UNKNOWN", facts)
  tellIgnored(loaded, folderOf(place).path, world)
  return loaded
}

export const configShow = implement(CONFIG_SHOW, {
  run: async (_input, world) => {
    const { settings, tableSettings, userFile, overlay, ignored } = await readConfig(world)
    const place = openPlace(world.env, world.cwd)
    const { tier } = trustOf(place, world.env) ?? {}
    return {
      path: configPath(place.root),
      trusted: tier !== undefined,
      ...(tier === undefined ? {} : { tier }),
      ...(userFile === undefined ? {} : { user_path: userFile }),
      ...(overlay === undefined ? {} : { overlay }),
      values: [
        ...OPTION_KEYS.map((key) => settingDocument(key, settingOf(settings, key))),
        ...tableSettings.map(({ key, value, source, path, line }) => ({ key, value, source, path, line })),
      ],
      ...(ignored.length === 0
        ? {}
        : {
            ignored: ignored.map(({ claim, why }) => ({
              key: claim.key,
              value: claim.shown,
              where: claim.where,
              why: REASONS[why],
            })),
          }),
    }
  },
  text: ({ values, ignored = [] }) =>
    [
      ...values.map(({ key, value, source, env_var: variable }) => {
        const from = variable === undefined ? source : `${source} (${variable})`
        return `${key}: ${value === undefined ? "unset" : show(value)} [source: ${from}]`
      }),
      ...ignored.map(({ key, value, where, why }) => `${key}: ${value} [ignored, ${where}: ${why}]`),
    ].join("\n"),
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
  run: async ({ key: typed, value: text, user }, world) => {
    const table = await findTableKey(typed)
    // Before anything is written, so that an unusable trust store is reported first.
    readTrustBook(world.env)
    const file = editedFile(user, world)
    const edit =
      table === undefined ? optionEdit(requireKey(typed), text) : await tableEdit(table, text, file)
    const before = await openForEdit(file)
    await writeConfigEdit({ path: file.path, before, after: await edit.change(before), ...edit })
    if (!user) await trustOwnEdit(edit.key, world)
    return { key: edit.key, path: file.path, value: edit.expected }
  },
  text: ({ key, path, value }) => `set ${key} = ${show(value)} in ${path}`,
})

export const configReset = implement(CONFIG_RESET, {
  run: async ({ key: typed, user }, world) => {
    const table = await findTableKey(typed)
    const key = table?.key ?? requireKey(typed)
    const { path, root } = editedFile(user, world)
    const before = readConfigText(path, root) ?? ""
    const after = removeKey(before, key)
    const parts = table === undefined ? key.split(".") : [table.section, table.name, table.field]
    await writeConfigEdit({ path, before, after, key, parts, expected: undefined })
    return { key, path, removed: before !== after }
  },
  text: ({ key, path, removed }) => `reset ${key} (${removed ? "removed" : "already-default"}) in ${path}`,
})

interface EditedFile {
  readonly path: string
  readonly root: string
  readonly source: "user" | "file"
}

const editedFile = (user: boolean, world: Pick<World, "env" | "cwd">): EditedFile => {
  if (!user) {
    const { root } = openPlace(world.env, world.cwd)
    return { path: configPath(root), root, source: "file" }
  }
  const path = userConfigFile(world.env)
  if (path === undefined)
    throw new Failure("USAGE", {
      problem: "--user needs a home directory.",
      next: "set HOME or XDG_CONFIG_HOME.",
    })
  return { path, root: userRoot(path, world.env["HOME"]), source: "user" }
}

interface Edit {
  readonly key: string
  readonly parts: readonly string[]
  readonly expected: OptionValue
  readonly change: (before: string) => string | Promise<string>
}

const optionEdit = (key: OptionKey, text: string): Edit => {
  const read = readOptionText(key, text)
  if (read.tag === "wrong")
    throw new Failure("USAGE", {
      problem: `'${key}' must be ${read.expected}, got ${JSON.stringify(text)}.`,
      next: `run 'meridian config set ${key} VALUE' with such a value.`,
    })
  return {
    key,
    parts: key.split("."),
    expected: read.value,
    change: (before) => setKey(before, key, toTomlValue(read.value)),
  }
}

/** Tried on the file as it is first, so that a refused value creates nothing. */
const tableEdit = async (table: TableKey, text: string, file: EditedFile): Promise<Edit> => {
  const { setTableKey } = await import("./config-table.ts")
  const given = { text, path: file.path, source: file.source }
  const { value } = await setTableKey(readConfigText(file.path, file.root) ?? "", table, given)
  const { key, section, name, field } = table
  return {
    key,
    parts: [section, name, field],
    expected: value,
    change: async (before) => (await setTableKey(before, table, given)).after,
  }
}

/**
 * A value that a person sets is trusted. One that an agent sets is written, and ignored like any other value of the
 * folder.
 */
const trustOwnEdit = async (key: string, world: World): Promise<void> => {
  if (world.mode === "human" && trustFile(world.env) !== undefined)
    await (await import("./trust.ts")).trustKey(key, world)
  await readConfig(world)
}

const REASONS: Readonly<Record<IgnoredClaim["why"], string>> = {
  untrusted: "the folder is not trusted",
  changed: "it changed since the folder was trusted",
  tier: "it is above the tier you gave",
  guard: "a folder does not take down a guard you put up",
  own: "only your own configuration sets it",
  sandbox: "a folder only makes your sandbox stricter",
  cap: "it is above the budget you set",
}

/** A hostile file may have hundreds. One line is enough to show that there are some. */
const MOST_NAMED = 5

const tellIgnored = (
  { ignored, userFile = "your own configuration", ceilings }: LoadedConfig,
  folder: string,
  world: Pick<World, "warn">,
): void => {
  const keysOf = (why: IgnoredClaim["why"]): readonly string[] =>
    ignored.filter((one) => one.why === why).map(({ claim }) => claim.key)
  const tell = (code: "FOLDER_UNTRUSTED" | "FOLDER_CHANGED", keys: readonly string[]): void => {
    if (keys.length === 0) return
    const more = keys.length > MOST_NAMED ? ` and ${keys.length - MOST_NAMED} more` : ""
    world.warn(code, { folder, values: `${keys.slice(0, MOST_NAMED).join(", ")}${more}`, file: userFile })
  }
  tell("FOLDER_UNTRUSTED", keysOf("untrusted"))
  tell("FOLDER_CHANGED", keysOf("changed"))
  for (const { claim, why } of ignored) {
    if (why === "cap")
      world.warn("BUDGET_CAPPED", { key: claim.key, where: claim.where, wished: claim.shown, file: userFile })
    if (why === "own") world.warn("CONFIG_OWN_ONLY", { key: claim.key, where: claim.where, file: userFile })
    if (why === "sandbox") world.warn("SANDBOX_LOOSER", { key: claim.key, where: claim.where })
    if (why === "tier")
      world.warn("TIER_CAPPED", {
        who: `${claim.key} of ${claim.where}`,
        wished: claim.shown,
        got: `${(claim.key === "permissions.default_tier" ? ceilings.run : ceilings.primary) ?? "nothing"} at most`,
        why: "that is the tier you gave this folder",
        next: `run 'meridian trust --tier ${claim.shown}', or set it in ${userFile}.`,
      })
  }
}

const findTableKey = async (typed: string): Promise<TableKey | undefined> =>
  TABLE_SECTIONS.has(typed.slice(0, Math.max(0, typed.indexOf("."))))
    ? (await import("./config-table.ts")).readTableKey(typed)
    : undefined

/** The text of the file. Creates the file if it does not exist. */
const openForEdit = async ({ path, root }: EditedFile): Promise<string> => {
  await mkdir(dirname(path), { recursive: true })
  await createConfigFile(path, configTemplate())
  return readConfigText(path, root) ?? ""
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
