/**
 * `config.toml` on disk. A file that sets nothing (as `meridian init` leaves it) is understood without loading a TOML
 * parser. An edit is written beside the file and renamed over it, and only if it parses to what was meant.
 */
import { realpath, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"

import { isInside, readWhole } from "@meridian/continuity/files"
import { Failure, isJsonObject, systemCode } from "@meridian/protocol"

import { readAcpAgents, type AcpAgents } from "../domain/acp-agents.ts"
import type { ConfigClaim } from "../domain/claim.ts"
import {
  ceilingsOf,
  claimsOf,
  judgeClaims,
  withoutClaims,
  type Ceilings,
  type IgnoredClaim,
} from "../domain/config-claims.ts"
import {
  configOf,
  layerConfig,
  TABLE_SECTIONS,
  type ConfigFile,
  type Settings,
} from "../domain/config-layer.ts"
import type { Config } from "../domain/config-option.ts"
import { keyLines } from "../domain/config-text.ts"
import { LIMIT } from "../domain/limit.ts"
import type { ProviderTables, ReadTables, TableSetting } from "../domain/provider-table.ts"
import { asFileTier, type FileTier } from "../domain/tier.ts"
import type { TrustEntry } from "../domain/trust.ts"
import { warning, type Warning } from "../domain/warning.ts"
import { userConfigFile } from "./user-place.ts"

export interface ConfigRequest {
  /** `StatePlace.root`: where `config.toml` is. */
  readonly root: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** `--config`, which takes precedence over MERIDIAN_CONFIG. */
  readonly configPath: string | undefined
  /** What the user's trust book says about the project. Undefined if nothing. */
  readonly trust?: TrustEntry | undefined
}

export interface LoadedConfig {
  readonly config: Config
  readonly settings: Settings
  /** `[providers.*]` and `[models.*]`. Undefined if no file has any. */
  readonly tables: ProviderTables | undefined
  /** The commands of agents that speak the Agent Client Protocol, from the user's own files. */
  readonly acpAgents: AcpAgents["commands"]
  /** The tables key by key, without credentials. */
  readonly tableSettings: readonly TableSetting[]
  /** The path of the user's own file, whether it exists or not. */
  readonly userFile?: string
  /** The file of --config or MERIDIAN_CONFIG. */
  readonly overlay?: string
  readonly warnings: readonly Warning[]
  /** Everything the project's file would decide for the user, and the claims that do not count. */
  readonly claims: readonly ConfigClaim[]
  readonly ignored: readonly IgnoredClaim[]
  readonly ceilings: Ceilings
  /** What a run may touch if the project says nothing: the user's own default. */
  readonly ownTier: FileTier
}

export const configPath = (root: string): string => join(root, "config.toml")

/** Throws CONFIG_INVALID (file, line, key) and CONFIG_NOT_FOUND (an overlay that does not exist). */
export const loadConfig = async (request: ConfigRequest): Promise<LoadedConfig> => {
  const { user, project, overlay } = await readFiles(request)
  const own = layerConfig([...user, ...overlay], request.env)
  const ceilings = ceilingsOf(own.settings, request.trust)
  const claims = project.flatMap(claimsOf)
  const ignored = judgeClaims(claims, { entry: request.trust, ceilings })
  const counted = project.map((file) =>
    withoutClaims(
      file,
      ignored.map(({ claim }) => claim),
    ),
  )
  const files = [...user, ...counted, ...overlay]
  const layered = layerConfig(files, request.env)
  const read = await readTables(files)
  const acp = readAcpAgents(files)
  const [wrong] = [...layered.wrong, ...(read?.wrong ?? []), ...acp.wrong]
  if (wrong !== undefined) throw new Failure("CONFIG_INVALID", { ...wrong })
  const userFile = userConfigFile(request.env)
  const [overlaid] = overlay
  return {
    config: configOf(layered.settings),
    settings: layered.settings,
    tables: read?.tables,
    acpAgents: acp.commands,
    tableSettings: read?.shown ?? [],
    ...(userFile === undefined ? {} : { userFile }),
    ...(overlaid === undefined ? {} : { overlay: overlaid.path }),
    warnings: [...layered.unknown, ...(read?.unknown ?? [])].map(({ path, line, key, suggestion }) =>
      warning("CONFIG_KEY_UNKNOWN", {
        file: path,
        line,
        key,
        ...(suggestion === undefined ? {} : { suggestion }),
      }),
    ),
    claims,
    ignored,
    ceilings,
    ownTier: asFileTier(own.settings.get("permissions.default_tier")?.value) ?? "read-only",
  }
}

/** Each is a list of one file or none, in the order of the layers. */
const readFiles = async ({ root, cwd, env, configPath: given }: ConfigRequest) => {
  const read = async (
    path: string | undefined,
    source: ConfigFile["source"],
    within?: string,
  ): Promise<readonly ConfigFile[]> => {
    const text = path === undefined ? undefined : readConfigText(path, within)
    return path === undefined || text === undefined ? [] : [await parseConfig(path, text, source)]
  }
  const userFile = userConfigFile(env)
  const asked = filled(given) ?? filled(env["MERIDIAN_CONFIG"])
  const overlay = asked === undefined ? undefined : resolve(cwd, asked)
  const files = {
    user: userFile === undefined ? [] : await read(userFile, "user", userRoot(userFile, env["HOME"])),
    project: await read(configPath(root), "file", root),
    overlay: await read(overlay, "user-config"),
  }
  if (overlay !== undefined && files.overlay.length === 0)
    throw new Failure("CONFIG_NOT_FOUND", { path: overlay })
  return files
}

/** A user's own file may be a link that stays in the user's home. */
export const userRoot = (file: string, home: string | undefined): string =>
  home !== undefined && home !== "" && isInside(home, file) ? home : dirname(file)

/**
 * Undefined if the file does not exist. Throws CONFIG_UNREADABLE for a file that is not regular, a file too large, or
 * a link that leads out of `within`. A file the user named may link anywhere.
 */
export const readConfigText = (path: string, within = "/"): string | undefined => {
  const found = readWhole(within, path, LIMIT.documentBytes)
  if (found.kind === "refused") throw new Failure("CONFIG_UNREADABLE", { path, problem: found.reason })
  return found.kind === "absent" ? undefined : found.text
}

/** Creates the file. False if it already exists; an existing file is never touched. */
export const createConfigFile = async (path: string, text: string): Promise<boolean> => {
  try {
    await writeFile(path, text, { flag: "wx" })
    return true
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false
    throw error
  }
}

/**
 * Replaces the text if it now says `expected` for the key and the same as before for everything else. Otherwise the
 * line editor cannot follow how the file is written, and nothing changes.
 */
export const writeConfigEdit = async (edit: {
  readonly path: string
  readonly before: string
  readonly after: string
  readonly key: string
  /** The key's parts, because a name the user chose may contain dots. */
  readonly parts?: readonly string[]
  readonly expected: unknown
}): Promise<void> => {
  if (edit.before === edit.after) return
  const [before, after] = [await parseToml(edit.path, edit.before), await tryToml(edit.after)]
  if (after === undefined || !sameButOne(before, after, edit.parts ?? edit.key.split("."), edit.expected))
    throw new Failure("CONFIG_NOT_EDITABLE", { path: edit.path, key: edit.key })
  const target = await realpath(edit.path)
  const { mode } = await stat(target)
  const beside = `${target}.${process.pid}.tmp`
  try {
    await writeFile(beside, edit.after, { mode: mode % 0o1000 })
    await rename(beside, target)
  } finally {
    await rm(beside, { force: true })
  }
}

/** Loaded only if a file has such tables. */
const readTables = async (files: readonly ConfigFile[]): Promise<ReadTables | undefined> => {
  const named = files.some(
    ({ tree }) => isJsonObject(tree) && Object.keys(tree).some((key) => TABLE_SECTIONS.has(key)),
  )
  return named ? (await import("../domain/provider-table.ts")).readProviderTables(files) : undefined
}

const filled = (text: string | undefined): string | undefined => (text === "" ? undefined : text)

const parseConfig = async (
  path: string,
  text: string,
  source: ConfigFile["source"],
): Promise<ConfigFile> => ({
  path,
  source,
  tree: setsNothing(text) ? {} : await parseToml(path, text),
  lines: keyLines(text),
})

/** Only blank lines, comments and plain section headers. */
const setsNothing = (text: string): boolean =>
  text.split("\n").every((line) => /^\s*(#.*|\[[\w-]+\]\s*)?$/.test(line))

export const parseToml = async (path: string, text: string): Promise<unknown> => {
  const { parse, TomlError } = await import("smol-toml")
  try {
    return parse(text.replace(/^\uFEFF/, ""))
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const problem = (error.message.split("\n")[0] ?? "").replace(/^Invalid TOML document: /, "")
    throw new Failure("CONFIG_SYNTAX", { where: `${path}:${error.line}`, problem }, { cause: error })
  }
}

const tryToml = async (text: string): Promise<unknown> => {
  try {
    return await parseToml("", text)
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

const sameButOne = (
  before: unknown,
  after: unknown,
  parts: readonly string[],
  expected: unknown,
): boolean => {
  const now = parts.reduce<unknown>((tree, part) => (isJsonObject(tree) ? tree[part] : undefined), after)
  return (
    JSON.stringify(without(before, parts)) === JSON.stringify(without(after, parts)) &&
    JSON.stringify(now) === JSON.stringify(expected)
  )
}

/** The tree sorted by name, without the key and without the sections it leaves empty. */
const without = (tree: unknown, parts: readonly string[]): unknown => {
  if (!isJsonObject(tree)) return tree
  const [head, ...rest] = parts
  return Object.entries(tree)
    .filter(([name]) => rest.length > 0 || name !== head)
    .map(([name, inner]) => [name, name === head ? without(inner, rest) : inner] as const)
    .filter(([name, inner]) => JSON.stringify(inner) !== (name === head ? "[]" : "{}"))
    .toSorted(byName)
}

const byName = (left: readonly [string, unknown], right: readonly [string, unknown]): number =>
  left[0] < right[0] ? -1 : 1
