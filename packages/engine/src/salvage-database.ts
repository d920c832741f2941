/**
 * Saves what is readable of a damaged database into a new one. The damaged file is only read, never written or repaired. A
 * session is taken up to the first hole in its log, because later events may build on missing ones. Those go to a separate
 * file, as text.
 */
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"

import { decodeEvent, Failure, systemCode } from "@meridian/protocol"
import { Effect } from "effect"

import { openStore } from "./choose-store.ts"
import type { DatedEvent } from "./domain/fork.ts"
import type { OpenedStore } from "./port/kept-outputs.ts"
import type { Creation } from "./port/store.ts"
import { readDamagedLog, type DamagedLog } from "./store/sqlite/salvage/damaged-log.ts"
import { openPages } from "./store/sqlite/salvage/pages.ts"
import { MIGRATIONS } from "./store/sqlite/schema.ts"

export interface SalvagedSession {
  readonly session: string
  readonly events: number
  /** Events that once existed and are not in the new database. */
  readonly lost: number
}

export interface Salvaged {
  readonly sessions: readonly SalvagedSession[]
  /** The file with JSON lines of events that no session could take; undefined when there are none. */
  readonly rest: string | undefined
}

/** `to` must not exist. Throws DATABASE_DAMAGED when there is nothing to save, and then leaves nothing behind. */
export const salvageDatabase = async (request: {
  readonly from: string
  readonly to: string
}): Promise<Salvaged> => {
  const { from, to } = request
  makeEmpty(to)
  const pages = openPages(from)
  const rest = openRest(`${to}.rest.jsonl`)
  try {
    if (pages.version !== undefined && pages.version > MIGRATIONS.length)
      throw new Failure("DATABASE_NEWER", { file: from, found: pages.version, known: MIGRATIONS.length })
    const log = readDamagedLog(pages)
    if (log.sessions.length === 0)
      throw new Failure("DATABASE_DAMAGED", { file: from, why: "no event of a session is left in it" })
    const sessions = await Effect.runPromise(Effect.scoped(saveSessions(log, request, rest.write)))
    return { sessions, rest: rest.close() }
  } catch (error) {
    rest.close()
    for (const left of [to, `${to}-wal`, `${to}-shm`, `${to}.output`, `${to}.rest.jsonl`])
      rmSync(left, { force: true, recursive: true })
    throw error
  } finally {
    pages.close()
  }
}

/** Readable only by the user, and never over an existing file. */
const makeEmpty = (file: string): void => {
  try {
    closeSync(openSync(file, "wx", 0o600))
  } catch (cause) {
    if (systemCode(cause) === "EEXIST") throw new Failure("EXPORT_FILE_EXISTS", { file }, { cause })
    throw cause
  }
}

const saveSessions = (
  log: DamagedLog,
  { from, to }: { readonly from: string; readonly to: string },
  putAside: (line: object) => void,
) =>
  Effect.gen(function* () {
    const stored = yield* openStore({ database: to })
    const saved: SalvagedSession[] = []
    for (const { key, last } of log.sessions) {
      const creation = creationOf(log, key)
      const through =
        creation === undefined ? 0 : yield* saveSession(stored, { log, key, last, creation, from })
      for (let seq = through + 1; seq <= last; seq += 1) {
        const event = log.event(key, seq)
        if (event !== undefined) putAside({ session: creation?.data.sessionID ?? `key ${key}`, ...event })
      }
      if (creation !== undefined)
        saved.push({ session: creation.data.sessionID, events: through, lost: last - through })
    }
    return saved
  })

/** Answers how far the session could be taken. A second session with the same id is not taken. */
const saveSession = (
  { store, outputs }: OpenedStore,
  session: {
    readonly log: DamagedLog
    readonly key: number
    readonly last: number
    readonly creation: Creation
    readonly from: string
  },
): Effect.Effect<number, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { log, key, last, creation, from } = session
      const draft = yield* store.draft(creation)
      let through = 1
      while (through < last) {
        const events: DatedEvent[] = []
        while (events.length < EVENTS_AT_ONCE && through < last) {
          const event = log.event(key, through + 1)
          if (event === undefined || event.type === "unknown") break
          const { seq: _, ...dated } = event
          events.push(dated)
          through += 1
        }
        if (events.length === 0) break
        copyOutputs({ from, to: outputs.folder, events: JSON.stringify(events) })
        yield* draft.append(events)
      }
      return (yield* draft.publish) === "published" ? through : 0
    }),
  )

const EVENTS_AT_ONCE = 200

/** The first event, or what the session's row still says about it. */
const creationOf = (log: DamagedLog, key: number): Creation | undefined => {
  const first = log.event(key, 1)
  if (first?.type === "session.next.created.1")
    return { type: first.type, time: first.time, data: first.data }
  const row = log.row(key)
  if (row === undefined) return undefined
  const data = JSON.stringify({ sessionID: row.id, location: { directory: row.directory } })
  const made = decodeEvent({ seq: 1, type: "session.next.created.1", time: row.created, data })
  return made.type === "session.next.created.1"
    ? { type: made.type, time: made.time, data: made.data }
    : undefined
}

/** Copies the full texts of long outputs that these events refer to, where they exist. */
const copyOutputs = ({
  from,
  to,
  events,
}: {
  readonly from: string
  readonly to: string
  readonly events: string
}): void => {
  for (const name of new Set(events.match(/\btool_[0-9a-f]{24}\.txt\b/g))) {
    const file = join(`${from}.output`, name)
    if (!existsSync(file)) continue
    mkdirSync(to, { recursive: true, mode: 0o700 })
    copyFileSync(file, join(to, name))
  }
}

/** The file is created with its first line. */
const openRest = (
  file: string,
): { readonly write: (line: object) => void; readonly close: () => string | undefined } => {
  let descriptor: number | undefined
  return {
    write: (line) => {
      descriptor ??= openSync(file, "wx", 0o600)
      writeSync(descriptor, `${JSON.stringify(line)}\n`)
    },
    close: () => {
      if (descriptor === undefined) return undefined
      closeSync(descriptor)
      return file
    },
  }
}
