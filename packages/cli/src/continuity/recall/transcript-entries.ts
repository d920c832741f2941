/** The entries of a transcript, line by line. Branches that were left are part of what was said. */
import {
  createLosses,
  formatOf,
  openTranscript,
  READERS,
  type ConversationReader,
  type OpenTranscript,
} from "@meridian/continuity"
import type { JsonObject } from "@meridian/protocol"

import { entriesOf, type Entry } from "./entry.ts"

/** Lines are numbered from 1; a file that is none of ours has no entries. */
export function* transcriptEntries(path: string): Generator<Entry> {
  const opened = openTranscript(path)
  if (typeof opened === "string") return
  using transcript = opened
  let number = 0
  let reader: ConversationReader | undefined
  const undecided: JsonObject[] = []
  for (const line of linesOf(transcript)) {
    number += 1
    if (reader === undefined) {
      undecided.push(line)
      const format = formatOf(line)
      if (format === undefined) {
        if (undecided.length > LINES_TO_TELL) return
        continue
      }
      reader = READERS[format](createLosses())
      for (const [index, earlier] of undecided.entries())
        yield* entriesOf(reader.straight(earlier), number - undecided.length + 1 + index)
    } else yield* entriesOf(reader.straight(line), number)
  }
}

const LINES_TO_TELL = 1_000

/** Damaged lines count as well, so that a number means the same line tomorrow. */
function* linesOf(transcript: OpenTranscript): Generator<JsonObject> {
  const range = { from: 0, to: transcript.end() }
  let bad = 0
  for (const line of transcript.lines(range, () => (bad += 1))) {
    for (; bad > 0; bad -= 1) yield {}
    yield line
  }
}
