/**
 * The ledger of a transcript: everything the first time, afterwards only what is new. Three cases are read again
 * completely: a conversation that went back to an earlier point, a replaced file, and an unreadable remembered state.
 *
 * A hook has little time. When it runs out, the answer comes from the beginning and the end of the file, and the next read
 * continues where this one stopped.
 */
import type { JsonObject } from "@meridian/protocol"

import { EMPTY_LEDGER, type LedgerState } from "../domain/ledger/ledger-state.ts"
import { openLedger } from "../domain/ledger/ledger.ts"
import type { About, ConversationReader } from "../transcript/conversation.ts"
import { formatOf, READERS } from "../transcript/detect.ts"
import { createLosses, type Losses } from "../transcript/losses.ts"
import type { Piece } from "../transcript/piece.ts"
import { recallTranscript, rememberTranscript, type Remembered } from "./remembered.ts"
import { openTranscript, skipLine, type OpenTranscript, type Range } from "./transcript-lines.ts"

export interface TranscriptQuery {
  readonly path: string
  /** Where the progress is remembered. Without it nothing is. */
  readonly folder?: string
  /** Milliseconds that only go forward. */
  readonly clock?: () => number
  readonly limits?: Partial<TranscriptLimits>
}

export type TranscriptReading =
  | {
      readonly kind: "read"
      readonly about: About
      readonly ledger: LedgerState
      /** Bytes read this time. */
      readonly bytes: number
      /** What could not be used, one line each. */
      readonly warnings: readonly string[]
    }
  | { readonly kind: "refused"; readonly reason: string }

export const TRANSCRIPT_LIMITS = {
  /** Of a larger file only the beginning and the end are read. */
  headBytes: 4 * 1024 * 1024,
  tailBytes: 192 * 1024 * 1024,
  /** The same when time ran out. */
  hurriedHeadBytes: 512 * 1024,
  hurriedTailBytes: 8 * 1024 * 1024,
  timeMs: 1_700,
} as const

export type TranscriptLimits = { readonly [Name in keyof typeof TRANSCRIPT_LIMITS]: number }

/** How many lines are read to recognise the harness. */
const LINES_TO_TELL = 1_000

/** Never throws. */
export const readTranscript = (query: TranscriptQuery): TranscriptReading => {
  const transcript = openTranscript(query.path)
  if (typeof transcript === "string") return { kind: "refused", reason: transcript }
  using open = transcript
  try {
    return readOn(open, query) ?? readWhole(open, query)
  } catch (error) {
    return { kind: "refused", reason: error instanceof Error ? error.message : "unknown" }
  }
}

/** Reads what is new since the last time; undefined when the whole file must be read. */
const readOn = (transcript: OpenTranscript, query: TranscriptQuery): TranscriptReading | undefined => {
  const known =
    query.folder === undefined ? undefined : recallTranscript(query.folder, query.path, transcript)
  if (known === undefined) return undefined
  const to = transcript.end()
  const bytes = to - known.offset
  if (bytes <= 0) return { kind: "read", ...known, bytes: 0, warnings: [] }
  const ranges = [{ from: known.offset, to }]
  const read = readStraight(transcript, ranges, { ...known, isLate: deadlineOf(query) })
  if (read === undefined) return undefined
  const { ledger, offset, reader, warnings } = read
  const marks = reader?.marks() ?? []
  remember(transcript, query, {
    ...known,
    offset,
    ledger,
    marks: marks.length === 0 ? known.marks : marks,
  })
  if (offset < to) return readHurried(transcript, query, to)
  return { kind: "read", about: known.about, ledger, bytes, warnings }
}

const readWhole = (transcript: OpenTranscript, query: TranscriptQuery): TranscriptReading => {
  const to = transcript.end()
  const isLate = deadlineOf(query)
  const { headBytes, tailBytes } = limitsOf(query)
  const ranges = rangesOf(transcript, to, headBytes, tailBytes)
  const read = readStraight(transcript, ranges, { isLate }) ?? readTwice(transcript, ranges, isLate)
  const about = read?.reader?.about()
  if (read?.reader !== undefined && about !== undefined)
    remember(transcript, query, {
      offset: read.offset,
      about,
      ledger: read.ledger,
      marks: read.reader.marks(),
    })
  if (read === undefined || read.offset < to) return readHurried(transcript, query, to)
  return readingOf(read)
}

/** Reads only the beginning and the end, when there was no time for more. Nothing of it is remembered. */
const readHurried = (transcript: OpenTranscript, query: TranscriptQuery, to: number): TranscriptReading => {
  const { hurriedHeadBytes, hurriedTailBytes } = limitsOf(query)
  const ranges = rangesOf(transcript, to, hurriedHeadBytes, hurriedTailBytes)
  return readingOf(readTwice(transcript, ranges, () => false))
}

const readingOf = (read: Read | undefined): TranscriptReading => {
  const about = read?.reader?.about()
  if (read === undefined || about === undefined)
    return { kind: "refused", reason: "it is not a transcript of a known harness" }
  const { ledger, bytes, warnings } = read
  return { kind: "read", about, ledger, bytes, warnings }
}

const rangesOf = (transcript: OpenTranscript, to: number, head: number, tail: number): readonly Range[] => {
  if (to <= head + tail) return [{ from: 0, to }]
  const end = skipLine(transcript.slice, head, to)
  const start = skipLine(transcript.slice, to - tail, to)
  return end >= start
    ? [{ from: 0, to }]
    : [
        { from: 0, to: end },
        { from: start, to },
      ]
}

interface Read {
  readonly ledger: LedgerState
  /** Undefined when no line identified a harness. */
  readonly reader: ConversationReader | undefined
  readonly bytes: number
  /** Where reading stopped: the end, or the last line there was time for. */
  readonly offset: number
  readonly warnings: readonly string[]
}

/** Reads in one pass while there is time; undefined when the conversation went back. */
const readStraight = (
  transcript: OpenTranscript,
  ranges: readonly Range[],
  options: {
    readonly ledger?: LedgerState
    readonly marks?: readonly string[]
    readonly isLate: () => boolean
  },
): Read | undefined => {
  const ledger = openLedger(options.ledger ?? startOf(ranges))
  const take = (pieces: readonly Piece[]): void => {
    for (const piece of pieces) ledger.take(piece)
  }
  const passed = pass(transcript, ranges, options.isLate, (reader, line) => take(reader.straight(line)))
  const { reader } = passed
  const marks = options.marks === undefined ? undefined : new Set(options.marks)
  if (reader?.isStraight(marks) === false) return undefined
  return { ...passed, ledger: ledger.state() }
}

/** Reads twice: first to find out which lines count, then to read those. Undefined when time ran out. */
const readTwice = (
  transcript: OpenTranscript,
  ranges: readonly Range[],
  isLate: () => boolean,
): Read | undefined => {
  const passed = pass(transcript, ranges, isLate, (reader, line) => reader.survey(line))
  if (passed.offset < (ranges.at(-1)?.to ?? 0)) return undefined
  const ledger = openLedger(startOf(ranges))
  for (const line of linesIn(transcript, ranges, createLosses()))
    for (const piece of passed.reader?.read(line) ?? []) ledger.take(piece)
  return { ...passed, ledger: ledger.state() }
}

/** With a gap in the file it is impossible to say what the user never said. */
const startOf = (ranges: readonly Range[]): LedgerState =>
  ranges.length === 1 ? EMPTY_LEDGER : { ...EMPTY_LEDGER, promptsDropped: 1 }

/** The first line that identifies a harness decides. The lines before it are passed on then. */
const pass = (
  transcript: OpenTranscript,
  ranges: readonly Range[],
  isLate: () => boolean,
  act: (reader: ConversationReader, line: JsonObject) => void,
): Omit<Read, "ledger"> => {
  const losses = createLosses()
  let offset = ranges.at(-1)?.to ?? 0
  let reader: ConversationReader | undefined
  let undecided: JsonObject[] = []
  let count = 0
  for (const line of linesIn(transcript, ranges, losses)) {
    count += 1
    if (reader === undefined) {
      undecided.push(line)
      const format = formatOf(line)
      if (format === undefined && undecided.length < LINES_TO_TELL) continue
      if (format === undefined) break
      reader = READERS[format](createLosses())
      for (const earlier of undecided) act(reader, earlier)
      undecided = []
    } else act(reader, line)
    if (count % LINES_BETWEEN_LOOKS !== 0 || !isLate()) continue
    offset = transcript.place()
    break
  }
  const warnings = losses.list().map(({ text }) => `transcript: ${text}`)
  if (ranges.length > 1) warnings.push("transcript: too large, its middle was not read")
  return { reader, offset, warnings, bytes: ranges.reduce((sum, range) => sum + range.to - range.from, 0) }
}

const LINES_BETWEEN_LOOKS = 256

function* linesIn(
  transcript: OpenTranscript,
  ranges: readonly Range[],
  losses: Losses,
): Generator<JsonObject> {
  for (const range of ranges) yield* transcript.lines(range, (kind) => losses.add(kind))
}

const remember = (
  transcript: OpenTranscript,
  { folder, path }: TranscriptQuery,
  remembered: Remembered,
): void => {
  if (folder !== undefined) rememberTranscript(folder, path, transcript, remembered)
}

const limitsOf = ({ limits }: TranscriptQuery): TranscriptLimits => ({ ...TRANSCRIPT_LIMITS, ...limits })

const deadlineOf = (query: TranscriptQuery): (() => boolean) => {
  const { clock = () => performance.now() } = query
  const until = clock() + limitsOf(query).timeMs
  return () => clock() > until
}
