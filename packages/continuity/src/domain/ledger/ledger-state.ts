/**
 * Everything the ledger knows, as plain JSON: it can be stored and continued later. Every list has a bound in
 * `LEDGER_LIMITS`, so the size does not grow with the conversation.
 */
import { asObject, type JsonObject } from "@meridian/protocol"

import type { Said } from "./said.ts"
import type { WorkList } from "./work-list.ts"

/** Raised when the meaning of a field changes. A state of another version is not continued. */
export const LEDGER_VERSION = 2

export const LEDGER_LIMITS = {
  files: 200,
  runs: 100,
  skills: 20,
  skillBody: 8_000,
  calls: 256,
  /** Messages of the user, and the length of each. The first and the newest are kept. */
  prompts: 400,
  promptLength: 32 * 1024,
  promptsLength: 512 * 1024,
  compactions: 50,
  summaryLength: 16 * 1024,
  pendingLength: 64 * 1024,
} as const

export interface SeenRun {
  readonly id: string
  readonly space?: string
  readonly command: string
  readonly order: number
  readonly time?: number
}

export interface SeenSkill {
  readonly name: string
  readonly body: string
  readonly order: number
}

export interface SeenFile {
  readonly path: string
  readonly order: number
  readonly time?: number
}

export interface SeenCompaction {
  readonly order: number
  readonly time?: number
  readonly summary: string
  /** Requests that the summary attributes to the user, who never made them. */
  readonly invented: readonly string[]
}

export interface UserMessage {
  readonly text: string
  readonly order: number
}

export interface LedgerState {
  readonly version: typeof LEDGER_VERSION
  /** The number of pieces taken so far. */
  readonly count: number
  readonly time?: number
  readonly task?: { readonly text: string; readonly order: number }
  readonly taskChanges: readonly { readonly text: string; readonly order: number }[]
  readonly prompts: readonly UserMessage[]
  /** The characters of all prompts together. */
  readonly promptsLength: number
  /** Messages that did not fit. If there are any, a missing quote proves nothing. */
  readonly promptsDropped: number
  readonly said: readonly Said[]
  readonly files: readonly SeenFile[]
  readonly runs: readonly SeenRun[]
  readonly skills: readonly SeenSkill[]
  readonly work: WorkList & { readonly order: number }
  readonly agent?: string
  readonly mode?: string
  readonly window?: number
  readonly compactions: readonly SeenCompaction[]
  /** Calls without an outcome: tool and input by id. */
  readonly calls: readonly OpenCall[]
  /** The agent's last words, not yet processed: they may turn out to be a summary. */
  readonly pending?: { readonly text: string; readonly order: number }
  /** How many calls had an unknown shape. */
  readonly unknown: number
}

export interface OpenCall {
  readonly id: string
  readonly tool: string
  readonly input?: JsonObject
  /** The todo list after this call, once it has succeeded. */
  readonly todo?: WorkList
}

export const EMPTY_LEDGER: LedgerState = {
  version: LEDGER_VERSION,
  count: 0,
  taskChanges: [],
  prompts: [],
  promptsLength: 0,
  promptsDropped: 0,
  said: [],
  files: [],
  runs: [],
  skills: [],
  work: { items: [], order: 0 },
  compactions: [],
  calls: [],
  unknown: 0,
}

/** Reads a state that this version of the ledger stored. Rejects anything else. */
export const readLedgerState = (value: unknown): LedgerState | undefined => {
  const found = asObject(value)
  if (found === undefined || found["version"] !== LEDGER_VERSION) return undefined
  if (["count", "promptsLength", "promptsDropped"].some((name) => typeof found[name] !== "number"))
    return undefined
  const lists = ["taskChanges", "prompts", "said", "files", "runs", "skills", "compactions", "calls"]
  if (lists.some((name) => !Array.isArray(found[name])) || asObject(found["work"]) === undefined)
    return undefined
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by us under this version; its shape was looked at
  return found as unknown as LedgerState
}
