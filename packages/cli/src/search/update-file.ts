/**
 * Indexes one session file, from its indexed position to its last whole line. Harnesses only ever append. A file with
 * a different beginning was replaced, and is indexed anew.
 */
import { createHash } from "node:crypto"

import { createLosses, openTranscript, READERS, type OpenTranscript, type Piece } from "@meridian/continuity"

import type { KeptFile } from "../sessions/kept-files.ts"
import { nameInPath } from "../sessions/name-in-path.ts"
import type { IndexWriter } from "./index-writer.ts"
import { readWindows } from "./read-windows.ts"
import { wordsOfPiece } from "./words-of.ts"

/** Lets other work run, and tells whether to continue. */
export type Breathe = (bytes: number) => Promise<boolean>

export const fileStamp = ({ bytes, changed }: KeptFile): string => `${bytes}:${changed}`

/** Throws if the file cannot be read. */
export const updateFile = async (index: IndexWriter, file: KeptFile, breathe: Breathe): Promise<void> => {
  const opened = openTranscript(file.path)
  if (typeof opened === "string") throw new Error(opened)
  using transcript = opened
  const known = index.sourceOf(file.path)
  const isGrown = known !== undefined && known.through > 0 && isSameHead(known.head, transcript)
  const source = index.putSource(file)
  if (!isGrown) index.forgetSessions(source)
  const session = index.putOnlySession(source, nameInPath(file.path), Math.floor(file.changed))
  const reader = READERS[file.keeper](createLosses())
  let through = isGrown ? known.through : 0
  const note = (): void => {
    const about = reader.about()
    // What a file says about itself counts once: later entries know less about its beginning.
    if (about !== undefined && !isGrown) index.describe(session, about)
    index.setThrough(source, through, headOf(transcript, Math.min(through, HEAD_BYTES)))
  }
  for (const window of readWindows(transcript, { from: through, to: transcript.bytes })) {
    const pieces = window.entries.flatMap((entry) => reader.straight(entry))
    index.addPlace({
      session,
      first: window.from,
      last: window.to,
      time: pieces.map(timeOf).findLast((time) => time !== undefined),
      words: pieces.map(wordsOfPiece).join("\n"),
    })
    const bytes = window.to - through
    through = window.to
    index.mayCommit(bytes, note)
    if (!(await breathe(bytes))) return note()
  }
  note()
  index.setStamp(source, fileStamp(file))
}

const HEAD_BYTES = 4_096

/** The digest comes with its length: for a short file, everything indexed is its head. */
const headOf = ({ slice }: Pick<OpenTranscript, "slice">, length: number): string =>
  `${length}:${createHash("sha256").update(slice(0, length)).digest("hex").slice(0, 32)}`

const isSameHead = (known: string, transcript: Pick<OpenTranscript, "slice">): boolean =>
  known === headOf(transcript, Number.parseInt(known, 10) || 0)

const timeOf = (piece: Piece): number | undefined => ("time" in piece ? piece.time : undefined)
