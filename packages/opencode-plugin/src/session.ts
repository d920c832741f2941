/** What the plugin knows of a session. Everything is in memory and can be rebuilt from the host's history. */
import type { WorkingSet } from "@meridian/continuity"

import type { ModelName } from "./history.ts"

export interface Session {
  readonly id: string
  paths: WorkingSet
  prompt: string | undefined
  agent: string | undefined
  model: ModelName | undefined
  /** The slash command behind the latest prompt. */
  command: string | undefined
  /** A command whose message has not come yet. */
  announcedCommand: string | undefined
  /** The history is read once, on first sight. It is waited for a little, and used whenever it comes. */
  history: Promise<void> | undefined
  busy: boolean
  /** Silent messages: whether the session has had one, and why it is due another. */
  told: boolean
  owed: "created" | "compacted" | undefined
  /** Set by a compaction; the reason why there is something to pin. */
  pin: Pin | undefined
}

export interface Pin {
  /** The working set as it was at the compaction: later calls are still in the conversation itself. */
  readonly paths: WorkingSet
  readonly launch: string
  /** The part that comes from files, and the look of those files when it was made. */
  readonly state: string
  readonly sources: string | undefined
}

export interface Sessions {
  readonly get: (id: string) => Session
  readonly forget: (id: string) => void
}

const KEPT_SESSIONS = 100

/** Least recently used goes first. */
export const openSessions = (): Sessions => {
  const sessions = new Map<string, Session>()
  return {
    get: (id) => {
      const session = sessions.get(id) ?? create(id)
      sessions.delete(id)
      sessions.set(id, session)
      for (const oldest of sessions.keys()) {
        if (sessions.size <= KEPT_SESSIONS) break
        sessions.delete(oldest)
      }
      return session
    },
    forget: (id) => {
      sessions.delete(id)
    },
  }
}

const create = (id: string): Session => ({
  id,
  paths: [],
  prompt: undefined,
  agent: undefined,
  model: undefined,
  command: undefined,
  announcedCommand: undefined,
  history: undefined,
  busy: false,
  told: false,
  owed: undefined,
  pin: undefined,
})
