/** What the plugin knows of a session. Everything is in memory and can be rebuilt from the host's history. */
import type { LedgerState, TouchedFile, WorkingSet } from "@meridian/continuity"

import { openConversation, type Conversation } from "./conversation.ts"
import type { ModelName } from "./history.ts"
import type { Told } from "./told.ts"

export interface Session {
  readonly id: string
  readonly conversation: Conversation
  paths: WorkingSet
  /** What the tools touched of the log and of workflows, with when: newer than the messages that will tell it. */
  touched: readonly TouchedFile[]
  prompt: string | undefined
  agent: string | undefined
  model: ModelName | undefined
  /** Tokens the model can hold. */
  window: number | undefined
  /** The slash command behind the latest prompt. */
  command: string | undefined
  /** A command whose message has not come yet, with the text it will have. */
  announced: { readonly command: string; readonly text: string } | undefined
  /** The history is read once, on first sight. It is waited for a little, and used whenever it comes. */
  history: Promise<void> | undefined
  busy: boolean
  /** Silent messages: whether the session has had one, why it is due another, and the rules it was told that way. */
  told: boolean
  owed: "created" | "compacted" | undefined
  toldRules: ReadonlySet<string>
  /** A compaction has begun, and the request for its summary has not come yet. */
  isSummarising: boolean
  /** How the system prompt of a main request of this session begins. */
  mainPrompt: string | undefined
  /** Set by a compaction; the reason why there is something to pin. */
  pin: Pin | undefined
  /** How the pinned part was told in messages, when it was. */
  pinTold: Told | undefined
  /** The messages of the next request carry the pinned part: its system prompt need not. */
  isPinInMessages: boolean
}

export interface Pin {
  /** The working set and the ledger as they were at the compaction: later ones are in the conversation itself. */
  readonly paths: WorkingSet
  readonly ledger: LedgerState
  /** What was pinned last. */
  readonly text: string
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
