/** What the plugin knows about a session. Everything is in memory and can be rebuilt from the host's history. */
import type { LedgerState, TouchedFile, WorkingSet } from "@meridian/continuity"

import { openConversation, type Conversation } from "./conversation.ts"
import type { ModelName } from "./history.ts"
import type { Told } from "./told.ts"

export interface Session {
  readonly id: string
  readonly conversation: Conversation
  paths: WorkingSet
  /**
   * Files of the log and the workflows that tools touched, with the time. Newer than the messages that will report them.
   */
  touched: readonly TouchedFile[]
  prompt: string | undefined
  agent: string | undefined
  model: ModelName | undefined
  /** The model's context window in tokens. */
  window: number | undefined
  /** The slash command of the latest prompt. */
  command: string | undefined
  /** A command whose message has not arrived yet, with the text it will have. */
  announced: { readonly command: string; readonly text: string } | undefined
  /** The history is read once, at first. The plugin waits for it briefly, and uses it whenever it arrives. */
  history: Promise<void> | undefined
  busy: boolean
  /** For silent messages: whether the session has had one, why another is due, and the rules it was told. */
  told: boolean
  owed: "created" | "compacted" | undefined
  toldRules: ReadonlySet<string>
  /** A compaction has begun, and the request for its summary has not arrived yet. */
  isSummarising: boolean
  /** The start of this session's system prompt in main requests. */
  mainPrompt: string | undefined
  /** Set by a compaction; without one there is nothing to pin. */
  pin: Pin | undefined
  /** The messages in which the pinned part was told, if it was. */
  pinTold: Told | undefined
  /** The messages of the next request contain the pinned part, so its system prompt need not. */
  isPinInMessages: boolean
}

export interface Pin {
  /** The working set and the ledger at the compaction. The conversation itself contains later ones. */
  readonly paths: WorkingSet
  readonly ledger: LedgerState
  /** The last pinned text. */
  readonly text: string
}

export interface Sessions {
  readonly get: (id: string) => Session
  readonly forget: (id: string) => void
}

const KEPT_SESSIONS = 100

/** The least recently used session is dropped first. */
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
  conversation: openConversation(),
  paths: [],
  touched: [],
  prompt: undefined,
  agent: undefined,
  model: undefined,
  window: undefined,
  command: undefined,
  announced: undefined,
  history: undefined,
  busy: false,
  told: false,
  owed: undefined,
  toldRules: new Set(),
  isSummarising: false,
  mainPrompt: undefined,
  pin: undefined,
  pinTold: undefined,
  isPinInMessages: false,
})
