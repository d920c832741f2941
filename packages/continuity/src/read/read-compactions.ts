/** Every compaction of a transcript, with the facts known at that time. For people who ask: the whole file is read. */
import type { JsonObject } from "@meridian/protocol"

import { ledgerFacts } from "../domain/ledger/ledger-facts.ts"
import { openLedger } from "../domain/ledger/ledger.ts"
import type { HostCompaction } from "../domain/ledger/receipt.ts"
import type { Place } from "../domain/working-set/working-set.ts"
import type { Format } from "../transcript/conversation.ts"
import { formatOf, READERS } from "../transcript/detect.ts"
import { createLosses } from "../transcript/losses.ts"
import { openTranscript } from "./transcript-lines.ts"

const MOST = 200
const LINES_TO_TELL = 1_000

/** Oldest first; empty when the file cannot be read. */
export const readCompactions = (path: string, place: Place): readonly HostCompaction[] => {
  const opened = openTranscript(path)
  if (typeof opened === "string") return []
  using transcript = opened
  const range = { from: 0, to: transcript.end() }
  const ignore = (): void => undefined
  const format = formatIn(transcript.lines(range, ignore))
  if (format === undefined) return []
  const reader = READERS[format](createLosses())
  for (const line of transcript.lines(range, ignore)) reader.survey(line)
  const ledger = openLedger()
  const compactions: HostCompaction[] = []
  for (const line of transcript.lines(range, ignore))
    for (const piece of reader.read(line)) {
      const before = ledger.state()
      ledger.take(piece)
      const last = ledger.state().compactions.at(-1)
      if (piece.kind !== "summary" || last === undefined) continue
      compactions.push({
        number: compactions.length + 1,
        time: piece.time,
        summary: last.summary,
        invented: last.invented,
        facts: ledgerFacts(before, { place }),
      })
    }
  return compactions.slice(-MOST)
}

const formatIn = (lines: Iterable<JsonObject>): Format | undefined => {
  let count = 0
  for (const line of lines) {
    const format = formatOf(line)
    count += 1
    if (format !== undefined || count === LINES_TO_TELL) return format
  }
  return undefined
}
