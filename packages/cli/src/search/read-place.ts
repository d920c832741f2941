/** The texts of one place of the index, read again from the source. Empty if the source is gone or has changed since. */
import { createLosses, openTranscript, READERS } from "@meridian/continuity"

import type { Engines } from "../sessions/engine-store.ts"
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

/** Never rejects. */
export const readPlace = async (
  place: PlaceOfText,
  engines: Pick<Engines, "open">,
): Promise<readonly TextThere[]> => {
  const { keeper } = place
  try {
    return keeper === "engine" ? await textsInEngine(place, engines) : [...textsAt({ ...place, keeper })]
  } catch {
    return []
  }
}

const textsInEngine = async (
  { path, session, first, last }: PlaceOfText,
  engines: Pick<Engines, "open">,
): Promise<readonly TextThere[]> => {
  await using source = await engines.open(path)
  const kept = await source.session(session)
  if (kept === undefined) return []
  const texts: TextThere[] = []
  for await (const events of source.events(kept, { after: first - 1, through: last - 1 }))
    for (const event of events) texts.push({ text: wordsOfEvent(event), time: event.time })
  return texts
}

function* textsAt({
  keeper,
  path,
  session,
  first,
  last,
}: PlaceOfText & { readonly keeper: Exclude<Keeper, "engine"> }): Generator<TextThere> {
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
