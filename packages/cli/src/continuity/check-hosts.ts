/**
 * Checks whether a host is connected, and whether that has an effect: is the hook or plugin there and current, what
 * was injected last, and what else works on compactions beside it. Starts and changes nothing.
 */
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"

import { readInjections } from "@meridian/continuity"
import { asObject, listAt } from "@meridian/protocol"
import type { HostCheck, KnownHarness } from "@meridian/spaces"
import { parse as parseJsonc } from "jsonc-parser"

import { addHooks } from "./host-hooks.ts"
import { SETTINGS, userOpencode, userSettings } from "./host-places.ts"
import { findPlugins, type FoundPlugin } from "./plugin-file.ts"
import { projectRoot } from "./project-root.ts"
import { injectionFolder } from "./read-injected.ts"

export type CheckedHost = "claude" | "codex" | "opencode"

export interface CheckScene {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly harnesses: readonly KnownHarness[]
}

export const HOSTS: readonly CheckedHost[] = ["claude", "codex", "opencode"]

export const checkHost = (host: CheckedHost, scene: CheckScene): HostCheck => {
  const root = projectRoot(scene.cwd)
  const checked = host === "opencode" ? checkOpencode(root, scene) : checkHook(host, root, scene.env)
  const last = readInjections(
    injectionFolder(scene.env),
    (injection) => injection.host === host && projectRoot(injection.directory) === root,
  ).at(-1)
  const note = noteOf(host, checked, scene, last === undefined)
  return {
    ...checked,
    ...(last === undefined
      ? {}
      : { last_injection: { at: last.at, tokens: last.tokens, session: last.session } }),
    ...(note === undefined ? {} : { note }),
  }
}

type Checked = Pick<HostCheck, "host" | "connected" | "current" | "place" | "beside">

/** The project's settings first, then the user's: hooks in either of them run. */
const checkHook = (host: "claude" | "codex", root: string, env: CheckScene["env"]): Checked => {
  for (const path of settingsOf(host, root, env)) {
    const text = readText(path)
    const program = /"((?:[^"\\]|\\.)*?) brief --host /.exec(text)?.[1]?.replaceAll(String.raw`\"`, `"`)
    const edit = program === undefined ? undefined : addHooks(text, host, program)
    if (edit !== undefined && edit.kind !== "invalid" && edit.action !== "installed")
      return { host, connected: true, current: edit.kind === "keep", place: path, beside: [] }
  }
  return { host, connected: false, current: false, beside: [] }
}

const settingsOf = (host: "claude" | "codex", root: string, env: CheckScene["env"]): readonly string[] => [
  join(root, SETTINGS[host]),
  ...(host === "claude" ? [join(root, ".claude/settings.local.json")] : []),
  userSettings(host, env),
]

const checkOpencode = (root: string, { env }: CheckScene): Checked => {
  const folders = configFolders(root, env)
  const plugins = findPlugins(folders)
  const named = folders.flatMap((folder) => namedIn(folder))
  const ours = plugins.find(({ kind }) => kind !== "other")
  const entry = named.find((name) => /meridian/i.test(name))
  const place = ours?.path ?? entry
  return {
    host: "opencode",
    connected: place !== undefined,
    current: ours === undefined ? entry !== undefined : ours.kind === "current",
    ...(place === undefined ? {} : { place }),
    beside: [
      ...plugins.filter(hooksCompaction).map(({ path }) => path),
      ...named.filter((name) => COMPACTION_PLUGIN.test(name) && !/meridian/i.test(name)),
    ],
  }
}

/** The folders of the project and of the user. */
const configFolders = (root: string, env: CheckScene["env"]): readonly string[] =>
  [join(root, ".opencode"), root, env["OPENCODE_CONFIG_DIR"] ?? "", userOpencode(env)].filter(
    (folder) => folder !== "" && existsSync(folder),
  )

/** Packages named in a configuration. */
const namedIn = (folder: string): readonly string[] =>
  ["opencode.json", "opencode.jsonc"].flatMap((name) => {
    const document: unknown = parseJsonc(readText(join(folder, name)))
    return listAt(asObject(document), "plugin").flatMap((entry) => {
      const named: unknown = Array.isArray(entry) ? entry[0] : entry
      return typeof named === "string" ? [named.slice(0, 300)] : []
    })
  })

/** Judged by their names: the code of a package cannot be read here. */
const COMPACTION_PLUGIN = /compact|context|recall|memory|session-state|oh-my-opencode|opencode-rules/i

const hooksCompaction = ({ kind, text }: FoundPlugin): boolean =>
  kind === "other" && /session\.compacting|compaction\.autocontinue|session\.compacted/.test(text)

const noteOf = (
  host: CheckedHost,
  { connected, current }: Checked,
  { harnesses }: CheckScene,
  isSilent: boolean,
): string | undefined => {
  const version = harnesses.find(({ harness }) => harness === host)?.version
  if (host === "opencode" && version !== undefined && Number(version.split(".")[0]) >= 2)
    return `OpenCode ${version} is installed, and this plugin is for 1.x: 2.x does not load it. Keep 1.x for now (npm install -g opencode-ai@1), or use Claude Code, Codex or direct.`
  if (!connected) return `run 'meridian init --${host}' to keep facts over a compaction.`
  if (!current) return `run 'meridian init --${host}' to bring it up to date.`
  return host === "codex" && isSilent
    ? "Codex runs a hook only after you have trusted it: start codex here, open /hooks and trust it."
    : undefined
}

const readText = (path: string): string => {
  try {
    return statSync(path).isFile() ? readFileSync(path, "utf8") : ""
  } catch {
    return ""
  }
}
