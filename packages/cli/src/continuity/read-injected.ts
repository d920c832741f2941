/** What the OpenCode plugin last put into requests of this directory. The plugin keeps it in debug mode. */
import { readFileSync } from "node:fs"
import { join } from "node:path"

import { projectRoot } from "./project-root.ts"

export interface InjectedEntry {
  readonly at: string
  readonly directory: string
  readonly session: string
  readonly request: string
  readonly texts: readonly string[]
}

export interface InjectedOutput {
  readonly file: string
  readonly entries: readonly InjectedEntry[]
  readonly output: string
}

export const readInjected = (input: {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}): InjectedOutput => {
  const state = input.env["XDG_STATE_HOME"] || join(input.env["HOME"] ?? "", ".local/state")
  const file = join(state, "meridian", "opencode-injected.json")
  const root = projectRoot(input.cwd)
  const entries = readEntries(file).filter(({ directory }) => projectRoot(directory) === root)
  return { file, entries, output: render(file, entries) }
}

const render = (file: string, entries: readonly InjectedEntry[]): string =>
  entries.length === 0
    ? `Nothing is recorded for this directory in ${file}. Set MERIDIAN_PLUGIN_OPTIONS='{"debug":true}' and run OpenCode here.`
    : entries
        .map(({ at, session, request, texts }) => [`=== ${at} ${session} ${request}`, ...texts].join("\n\n"))
        .join("\n\n")

const readEntries = (file: string): readonly InjectedEntry[] => {
  try {
    const document: unknown = JSON.parse(readFileSync(file, "utf8"))
    const entries: unknown = fieldOf(document, "entries")
    return Array.isArray(entries) ? entries.flatMap(entryOf) : []
  } catch {
    return []
  }
}

const entryOf = (value: unknown): readonly InjectedEntry[] => {
  const text = (key: string): string => {
    const field = fieldOf(value, key)
    return typeof field === "string" ? field : ""
  }
  const texts = fieldOf(value, "texts")
  if (!Array.isArray(texts) || text("directory") === "") return []
  return [
    {
      at: text("at"),
      directory: text("directory"),
      session: text("session"),
      request: text("request"),
      texts: texts.filter((item) => typeof item === "string"),
    },
  ]
}

const fieldOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined
