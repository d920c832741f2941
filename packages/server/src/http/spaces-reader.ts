/** Spaces, chats and runs, read through the operations of spaces. Answers are in camelCase and without directories. */
import { isJsonObject, type Json, type JsonObject } from "@meridian/protocol"
import { decodeInput, OPERATIONS, warning, type World } from "@meridian/spaces"

import type { ServeWorld } from "../mcp/tool-call.ts"

export interface SpacesReader {
  readonly read: (
    operation: "space.list" | "space.show" | "run.list" | "run.show" | "run.diff",
    values: JsonObject,
    signal: AbortSignal,
  ) => Promise<JsonObject>
  /** Like `read`, with the warnings of the operation as `warnings`. */
  readonly change: (
    operation: "run.apply" | "run.discard" | "run.send" | "run.resume" | "run.continue",
    values: JsonObject,
    signal: AbortSignal,
  ) => Promise<JsonObject>
}

/** Clients on the network must not learn the server's directories. `within`: the key of the enclosing object. */
export const isDirectory = (key: string, within: string): boolean =>
  DIRECTORIES.has(key) || DIRECTORIES.has(`${within}.${key}`)

const DIRECTORIES: ReadonlySet<string> = new Set([
  "fs_path",
  "cwd",
  "report_path",
  "log_path",
  "files_touched",
  "worktree.path",
])

export const makeSpacesReader = (base: ServeWorld): SpacesReader => ({
  read: (name, values, signal) => carryOut(name, values, worldOf(base, signal)),
  change: async (name, values, signal) => {
    const warnings: string[] = []
    const warn: World["warn"] = (code, facts) => {
      const { cause } = warning(code, facts)
      if (!warnings.includes(cause)) warnings.push(cause)
    }
    const document = await carryOut(name, values, { ...worldOf(base, signal), warn })
    return warnings.length === 0 ? document : { ...document, warnings }
  },
})

const carryOut = async (name: string, values: JsonObject, world: World): Promise<JsonObject> => {
  const registration = OPERATIONS.find(({ meta }) => meta.name === name)
  if (registration === undefined) throw new TypeError(`no operation ${name}`)
  const input = decodeInput(registration.meta, { values, face: "tool" })
  const operation = await registration.load()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- decodeInput checked the input against this very meta
  const document = camelCased(await operation.run(input as never, world))
  if (!isJsonObject(document)) throw new TypeError(`${name} did not answer with an object`)
  return document
}

const worldOf = (base: ServeWorld, signal: AbortSignal): World => ({
  ...base,
  mode: "agent",
  face: "tool",
  terminal: { stdin: false, stdout: false, stderr: false },
  stderr: { write: () => undefined },
  warn: () => undefined,
  progress: () => undefined,
  signal,
  onSignal: () => () => undefined,
  confirm: () => Promise.resolve(false),
  json: true,
})

const camelCased = (value: Json, within = ""): Json => {
  if (Array.isArray(value)) return value.map((item: Json) => camelCased(item, within))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !isDirectory(key, within))
      .map(([key, item]) => [camelName(key), camelCased(item, key)]),
  )
}

/** `run_id` -> `runId`. */
export const camelName = (key: string): string =>
  key.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
