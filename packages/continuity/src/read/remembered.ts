/**
 * What was read of a transcript, so that the next read covers only what is new. One file per transcript in the user's own
 * state folder, never in a project:
 *
 *   <state>/transcripts/<digest of the path>.json   { version, path, offset, start, end, marks, about, ledger }
 *
 * `start` and `end` are digests of the bytes at the beginning of the transcript and before `offset`. A replaced or
 * rewritten file has different ones and is read anew. At most `MOST_FILES` are kept, the newest.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { parseObject, objectAt, textAt, type JsonObject } from "@meridian/protocol"

import { type LedgerState, readLedgerState } from "../domain/ledger/ledger-state.ts"
import type { About } from "../transcript/conversation.ts"
import type { OpenTranscript } from "./transcript-lines.ts"

export interface Remembered {
  readonly offset: number
  readonly marks: readonly string[]
  readonly about: About
  readonly ledger: LedgerState
}

const VERSION = 1
const MOST_FILES = 64
const MOST_BYTES = 8 * 1024 * 1024
const DIGESTED = 4096

/** Undefined when it was never read, or is a different file now. */
export const recallTranscript = (
  folder: string,
  path: string,
  transcript: OpenTranscript,
): Remembered | undefined => {
  const found = readJson(fileOf(folder, path))
  const offset = found?.["offset"]
  if (found?.["version"] !== VERSION || textAt(found, "path") !== path || typeof offset !== "number")
    return undefined
  if (offset > transcript.bytes || offset <= 0) return undefined
  const { start, end } = digestsOf(transcript, offset)
  if (found["start"] !== start || found["end"] !== end) return undefined
  const ledger = readLedgerState(found["ledger"])
  const about = aboutOf(objectAt(found, "about"))
  const marks = found["marks"]
  if (ledger === undefined || about === undefined || !Array.isArray(marks)) return undefined
  return { offset, about, ledger, marks: marks.filter((mark) => typeof mark === "string") }
}

/**
 * Written completely or not at all; two simultaneous hooks write the same. Failing to remember only costs time, so it is
 * silent.
 */
export const rememberTranscript = (
  folder: string,
  path: string,
  transcript: OpenTranscript,
  remembered: Remembered,
): void => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const file = fileOf(folder, path)
    const fresh = `${file}.${process.pid}.tmp`
    const text = JSON.stringify({
      version: VERSION,
      path,
      ...digestsOf(transcript, remembered.offset),
      ...remembered,
    })
    writeFileSync(fresh, text, { mode: 0o600 })
    renameSync(fresh, file)
    forgetOldest(folder)
  } catch {
    // Then the next read simply covers more.
  }
}

const fileOf = (folder: string, path: string): string =>
  join(folder, `${createHash("sha256").update(path).digest("hex").slice(0, 32)}.json`)

const digestsOf = (
  transcript: OpenTranscript,
  offset: number,
): { readonly start: string; readonly end: string } => {
  const length = Math.min(DIGESTED, offset)
  return {
    start: digest(transcript.slice(0, length)),
    end: digest(transcript.slice(offset - length, length)),
  }
}

const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("base64")

const readJson = (file: string): JsonObject | undefined => {
  try {
    const found = statSync(file, { throwIfNoEntry: false })
    if (found?.isFile() !== true || found.size > MOST_BYTES) return undefined
    return parseObject(readFileSync(file, "utf8"))
  } catch {
    return undefined
  }
}

const aboutOf = (value: JsonObject | undefined): About | undefined => {
  const id = textAt(value, "id")
  const directory = textAt(value, "directory")
  return id === undefined ? undefined : { id, ...(directory === undefined ? {} : { directory }) }
}

const forgetOldest = (folder: string): void => {
  const names = readdirSync(folder)
  if (names.length <= MOST_FILES) return
  const timed = names.map((name) => ({
    name,
    at: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  }))
  for (const { name } of timed
    .toSorted((left, right) => left.at - right.at)
    .slice(0, names.length - MOST_FILES))
    rmSync(join(folder, name), { force: true })
}
