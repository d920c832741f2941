/**
 * Words sent to a run while it works: `runs/<rN>/inbox.jsonl`, one `{"text":…}` a line, and in `inbox.told` how many
 * were delivered. A sender appends under the lock of the runs; only the run's worker updates the count.
 */
import { existsSync } from "node:fs"

import { decodeLine, number, text } from "../domain/json-line.ts"
import { readDocument, replaceFile } from "./document.ts"
import { appendEvents } from "./journal.ts"
import { scanLines } from "./log-lines.ts"
import type { RunPlace } from "./place.ts"

/** Call only while holding the lock of the runs. */
export const sendWords = (files: RunPlace, words: string, at: string): void =>
  appendEvents(files.inbox, [{ at, text: words }])

/** The undelivered words, oldest first. */
export const waitingWords = (files: RunPlace): readonly string[] => {
  if (!existsSync(files.inbox)) return []
  const all: string[] = []
  scanLines(files.inbox, (line) => {
    const words = text(decodeLine(line ?? "") ?? {}, "text")
    if (words !== undefined) all.push(words)
  })
  return all.slice(toldCount(files))
}

/** Marks this many waiting words as delivered. */
export const takeWords = (files: RunPlace, count: number): void => {
  if (count > 0) replaceFile(files.inboxTold, `${JSON.stringify({ told: toldCount(files) + count })}\n`)
}

const toldCount = (files: RunPlace): number =>
  number(decodeLine((readDocument(files.inboxTold) ?? "").trim()) ?? {}, "told") ?? 0
