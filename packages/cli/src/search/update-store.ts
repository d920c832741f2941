/** Indexes a database with many sessions, OpenCode's or the engine's: the sessions that changed since the last time. */
import { createLosses, READERS } from "@meridian/continuity"

import type { Engines } from "../sessions/engine-store.ts"
import { openReadOnly } from "../sessions/open-read-only.ts"
import { opencodeEntries, opencodeSessions } from "../sessions/opencode-store.ts"
import type { IndexWriter } from "./index-writer.ts"
import { SEARCH_LIMITS } from "./limits.ts"
import type { Breathe } from "./update-file.ts"
import { wordsOfEvent, wordsOfPiece } from "./words-of.ts"

export interface KeptStore {
  readonly path: string
  readonly keeper: "opencode" | "engine"
  /** For a file. A server is asked what changed. */
  readonly stamp: string | undefined
}

interface Updating {
  readonly index: IndexWriter
  readonly engines: Engines
  readonly breathe: Breathe
}

/** Rejects if the database cannot be read or is not one of theirs. */
export const updateStore = async (store: KeptStore, updating: Updating): Promise<void> => {
  const update = store.keeper === "opencode" ? updateOpencode : updateEngine
  await update(store, updating)
}

/** Messages change while they are written, so a session that changed is indexed anew. */
const updateOpencode = async (store: KeptStore, { index, breathe }: Updating): Promise<void> => {
  using database = openReadOnly(store.path)
  const source = index.putSource(store)
  const sessions = opencodeSessions(database)
  index.keepSessions(source, new Set(sessions.map(({ id }) => id)))
  for (const { id, updated, directory, title, created } of sessions) {
    if (index.markOf(source, id) === updated) continue
    index.forgetSession(source, id)
    const session = index.putSession(source, id, updated)
    index.describe(session, { id, directory, title, began: created })
    const reader = READERS.opencode(createLosses())
    const row = openRow(index, session)
    let position = 0
    for (const entry of opencodeEntries(database, id)) {
      for (const piece of reader.straight(entry))
        row.add(wordsOfPiece(piece), position, "time" in piece ? piece.time : undefined)
      position += 1
    }
    row.finish()
    index.setMark(session, updated)
    index.mayCommit(row.bytes(), () => undefined)
    if (!(await breathe(row.bytes()))) return
  }
  index.setStamp(source, store.stamp ?? "")
}

/** Events never change, so only those after the last one are added. */
const updateEngine = async (store: KeptStore, { index, engines, breathe }: Updating): Promise<void> => {
  await using engine = await engines.open(store.path)
  const sessions = await engine.sessions()
  const source = index.putSource(store)
  const stamp = store.stamp ?? engine.identity ?? ""
  if (store.stamp === undefined && index.sourceOf(store.path)?.stamp !== stamp) index.forgetSessions(source)
  index.keepSessions(source, new Set(sessions.map(({ id }) => id)))
  if (store.stamp === undefined) index.setStamp(source, stamp)
  for (const kept of sessions) {
    const { id, directory, created, updated, seq } = kept
    const known = index.markOf(source, id)
    if (known === seq) continue
    const session = index.putSession(source, id, updated)
    const row = openRow(index, session)
    let { title } = kept
    for await (const events of engine.events(kept, { after: known ?? 0, through: seq }))
      for (const event of events) {
        if (event.type === "session.next.prompt.admitted.1") title ??= event.data.prompt.text
        row.add(wordsOfEvent(event), event.seq, event.time)
      }
    row.finish()
    if (known === undefined || kept.title !== undefined)
      index.describe(session, { id, directory, began: created, ...(title === undefined ? {} : { title }) })
    index.setMark(session, seq)
    index.mayCommit(row.bytes(), () => undefined)
    if (!(await breathe(row.bytes()))) return
  }
  index.setStamp(source, stamp)
}

/** Collects texts until they are worth a row of the index. */
const openRow = (index: IndexWriter, session: number) => {
  let words: string[] = []
  let size = 0
  let all = 0
  let first = 0
  let last = 0
  let time: number | undefined
  const finish = (): void => {
    index.addPlace({ session, first, last: last + 1, time, words: words.join("\n") })
    words = []
    size = 0
  }
  return {
    add: (text: string, position: number, at: number | undefined): void => {
      if (text === "") return
      if (size > SEARCH_LIMITS.windowBytes && position !== last) finish()
      if (words.length === 0) first = position
      last = position
      time = at ?? time
      words.push(text)
      size += text.length
      all += text.length
    },
    finish,
    bytes: () => all,
  }
}
