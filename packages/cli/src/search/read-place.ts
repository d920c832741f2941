/** The texts of one place of the index, read again from the source. Nothing when the source is gone or changed since. */
import { createLosses, openTranscript, READERS } from "@meridian/continuity"

import { engineEvents, engineSession } from "../sessions/engine-store.ts"
import type { Keeper } from "../sessions/harness-places.ts"
import { openReadOnly } from "../sessions/open-read-only.ts"
import { opencodeEntries } from "../sessions/opencode-store.ts"
import { readWindows } from "./read-windows.ts"
import { wordsOfEvent, wordsOfPiece } from "./words-of.ts"

export interface PlaceOfText {
  readonly keeper: Keeper
  readonly path: string
  readonly session: string
  readonly first: number
  readonly last: number
}

export interface TextThere {
  readonly text: string
  readonly time?: number
}

/** Never throws. */
export const readPlace = (place: PlaceOfText): readonly TextThere[] => {
  try {
    return [...textsAt(place)]
  } catch {
    return []
  }
}

function* textsAt({ keeper, path, session, first, last }: PlaceOfText): Generator<TextThere> {
  if (keeper === "engine") {
    using database = openReadOnly(path)
    const kept = engineSession(database, session)
    if (kept === undefined) return
    for (const event of engineEvents(database, kept, { after: first - 1, through: last - 1 }))
      yield { text: wordsOfEvent(event), time: event.time }
    return
  }
  const reader = READERS[keeper](createLosses())
  const told = function* (entry: Parameters<typeof reader.straight>[0]): Generator<TextThere> {
    for (const piece of reader.straight(entry)) {
      const text = wordsOfPiece(piece)
      yield "time" in piece && piece.time !== undefined ? { text, time: piece.time } : { text }
    }
  }
  if (keeper === "opencode") {
    using database = openReadOnly(path)
    let position = 0
    for (const entry of opencodeEntries(database, session)) {
      if (position >= last) return
      if (position >= first) yield* told(entry)
      position += 1
    }
    return
  }
  const opened = openTranscript(path)
  if (typeof opened === "string") return
  using transcript = opened
  for (const window of readWindows(transcript, { from: first, to: last }))
    for (const entry of window.entries) yield* told(entry)
}
