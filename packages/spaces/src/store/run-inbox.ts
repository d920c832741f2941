/**
 * Words sent to a run while it works: `runs/<rN>/inbox.jsonl`, one `{"at":…,"text":…}` a line, counted from 1. Beside
 * it, `inbox.told` has how many were told, and when and how later ones were handed over. After the attempt, the
 * agent's conversation shows whether they arrived. A sender appends under the lock of the runs; only the run's worker
 * updates the count.
 */
import { existsSync } from "node:fs"

import {
  BUDGET_MARK,
  decoder,
  INTEGER,
  listOf,
  objectOf,
  oneOf,
  STRING,
  type TypeOf,
} from "@meridian/protocol"

import { decodeLine, text } from "../domain/json-line.ts"
import { readDocument, replaceFile } from "./document.ts"
import { appendEvents } from "./journal.ts"
import { scanLines } from "./log-lines.ts"
import type { RunPlace } from "./place.ts"

export interface SentWords {
  readonly number: number
  readonly at: string
  readonly text: string
}

const HANDED = objectOf({
  upTo: INTEGER,
  at: STRING,
  /** As the message of an attempt, or in the middle of its work. */
  by: oneOf("message", "offer"),
})
export type Handed = TypeOf<typeof HANDED>

const TOLD = objectOf(
  { told: INTEGER },
  {
    handed: HANDED,
    /** What the agent was told about its budget: for each cap, the last mark. */
    budget: listOf(BUDGET_MARK),
  },
)
export type Told = TypeOf<typeof TOLD>

const decodeTold = decoder(TOLD, { unknown: "strip" })

/** Call only while holding the lock of the runs. */
export const sendWords = (files: RunPlace, words: string, at: string): void =>
  appendEvents(files.inbox, [{ at, text: words }])

/** Words not told yet, oldest first, including those handed over that may not have arrived. */
export const waitingWords = (files: RunPlace): readonly SentWords[] => {
  if (!existsSync(files.inbox)) return []
  const all: SentWords[] = []
  scanLines(files.inbox, (line) => {
    const fields = decodeLine(line ?? "") ?? {}
    const words = text(fields, "text")
    if (words !== undefined) all.push({ number: all.length + 1, at: text(fields, "at") ?? "", text: words })
  })
  return all.slice(readTold(files).told)
}

export const readTold = (files: Pick<RunPlace, "inboxTold">): Told => {
  const known = decodeTold(decodeLine((readDocument(files.inboxTold) ?? "").trim()))
  return known.tag === "value" ? known.value : { told: 0 }
}

/** Only the worker of the run calls these. */
export const writeTold = (files: RunPlace, told: Told): void =>
  replaceFile(files.inboxTold, `${JSON.stringify(told)}\n`)

export const noteHanded = (files: RunPlace, handed: Handed): void => {
  const before = readTold(files)
  // If an offer was taken, the agent has already worked on the message of this attempt.
  const isFollowUp = before.handed?.by === "message" && handed.by === "offer"
  const told = isFollowUp ? Math.max(before.told, before.handed.upTo) : before.told
  if (handed.upTo > told) writeTold(files, { ...before, told, handed })
}

/** The agent has received them. */
export const noteTold = (files: RunPlace, upTo: number): void => {
  const { handed, ...before } = readTold(files)
  if (upTo <= before.told) return
  writeTold(files, {
    ...before,
    told: upTo,
    ...(handed === undefined || handed.upTo <= upTo ? {} : { handed }),
  })
}

/** The agent has not received them, so they wait again. */
export const takeBack = (files: RunPlace): void => {
  const { handed, ...before } = readTold(files)
  if (handed !== undefined) writeTold(files, before)
}
