/**
 * What was added to the requests of hosts, for `meridian brief --injected`, receipts and doctor. One file per conversation
 * in the user's state folder, one JSON object per line, newest last:
 *
 *   <state>/injections/<host>-<digest of the session>.jsonl   { v, at, host, session, directory, request, texts, ... }
 *
 * A line is written only when the text has changed. A file that grows too long loses its older half; when there are too
 * many files, the oldest is deleted.
 */
import { createHash } from "node:crypto"
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"

import { asObject, listAt, numberAt, parseObject, textAt, type JsonObject } from "@meridian/protocol"

import { cutLine } from "../domain/text/sanitize-line.ts"

export type InjectionHost = "claude" | "codex" | "opencode"

export interface Injection {
  /** ISO 8601. */
  readonly at: string
  readonly host: InjectionHost
  readonly session: string
  readonly directory: string
  /**
   * `main request`: the pinned part. `compaction`: instructions for the summariser. `summary`: its result, as the host
   * reports it.
   */
  readonly request: "main request" | "compaction" | "summary"
  readonly texts: readonly string[]
  readonly tokens: number
  /** How long it took to make. */
  readonly ms?: number
  /** Facts that were put back. */
  readonly facts?: readonly { readonly kind: string; readonly text: string }[]
  readonly summary?: string
  /** Requests that the summary attributes to the user, who never made them. */
  readonly invented?: readonly string[]
  readonly warnings?: readonly string[]
}

const LIMITS = {
  files: 64,
  fileBytes: 512 * 1024,
  facts: 80,
  factLength: 300,
  summaryLength: 16 * 1024,
  /** The total that is read. */
  totalBytes: 8 * 1024 * 1024,
} as const

/** Never throws: evidence is worth less than the turn it is about. */
export const recordInjection = (folder: string, injection: Injection): void => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const file = fileOf(folder, injection)
    appendFileSync(file, `${JSON.stringify(documentOf(injection))}\n`, { mode: 0o600 })
    if (statSync(file).size > LIMITS.fileBytes) keepNewerHalf(file)
    forgetOldest(folder)
  } catch {
    // The disk is full or read-only.
  }
}

/** Oldest first. Unreadable lines are skipped. */
export const readInjections = (
  folder: string,
  wanted: (injection: Injection) => boolean = () => true,
): readonly Injection[] => {
  let room: number = LIMITS.totalBytes
  return newestFiles(folder)
    .flatMap((file) => {
      const text = room > 0 ? readText(file) : ""
      room -= text.length
      return text.split("\n").flatMap((line) => injectionOf(parseObject(line)))
    })
    .filter(wanted)
    .toSorted((left, right) => (left.at < right.at ? -1 : left.at > right.at ? 1 : 0))
}

const fileOf = (folder: string, { host, session }: Injection): string =>
  join(folder, `${host}-${createHash("sha256").update(session).digest("hex").slice(0, 32)}.jsonl`)

const documentOf = ({ facts, summary, ...rest }: Injection): object => ({
  v: 1,
  ...rest,
  ...(facts === undefined
    ? {}
    : {
        facts: facts
          .slice(0, LIMITS.facts)
          .map(({ kind, text }) => ({ kind, text: cutLine(text, LIMITS.factLength) })),
      }),
  ...(summary === undefined ? {} : { summary: summary.slice(0, LIMITS.summaryLength) }),
})

const injectionOf = (value: JsonObject | undefined): readonly Injection[] => {
  const at = textAt(value, "at")
  const host = HOSTS.find((name) => name === textAt(value, "host"))
  const session = textAt(value, "session")
  const request = REQUESTS.find((name) => name === textAt(value, "request"))
  if (at === undefined || host === undefined || session === undefined || request === undefined) return []
  const texts = (key: string): readonly string[] =>
    listAt(value, key).filter((item) => typeof item === "string")
  const summary = textAt(value, "summary")
  const ms = numberAt(value, "ms")
  return [
    {
      at,
      host,
      session,
      request,
      directory: textAt(value, "directory") ?? "",
      texts: texts("texts"),
      tokens: numberAt(value, "tokens") ?? 0,
      facts: listAt(value, "facts").flatMap((item) => {
        const kind = textAt(asObject(item), "kind")
        const text = textAt(asObject(item), "text")
        return kind === undefined || text === undefined ? [] : [{ kind, text }]
      }),
      invented: texts("invented"),
      warnings: texts("warnings"),
      ...(ms === undefined ? {} : { ms }),
      ...(summary === undefined ? {} : { summary }),
    },
  ]
}

const HOSTS = ["claude", "codex", "opencode"] as const
const REQUESTS = ["main request", "compaction", "summary"] as const

const newestFiles = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => ({ file: join(folder, name), at: modified(join(folder, name)) }))
      .toSorted((left, right) => right.at - left.at)
      .slice(0, LIMITS.files)
      .map(({ file }) => file)
  } catch {
    return []
  }
}

const modified = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

const readText = (file: string): string => {
  try {
    const found = statSync(file)
    return found.isFile() && found.size <= 2 * LIMITS.fileBytes ? readFileSync(file, "utf8") : ""
  } catch {
    return ""
  }
}

const keepNewerHalf = (file: string): void => {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n")
  const fresh = `${file}.${process.pid}.tmp`
  writeFileSync(fresh, `${lines.slice(Math.ceil(lines.length / 2)).join("\n")}\n`, { mode: 0o600 })
  renameSync(fresh, file)
}

const forgetOldest = (folder: string): void => {
  const names = readdirSync(folder)
  if (names.length <= LIMITS.files) return
  const timed = names.map((name) => ({ file: join(folder, name), at: modified(join(folder, name)) }))
  const oldest = timed.toSorted((left, right) => left.at - right.at).slice(0, names.length - LIMITS.files)
  for (const { file } of oldest) rmSync(file, { force: true })
}
