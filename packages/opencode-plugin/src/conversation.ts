/**
 * The ledger of one session, folded from the messages that OpenCode provides: all of them at first, afterwards those of the
 * next request. A message is folded only once. When one was taken back, the whole ledger is folded again.
 */
import {
  createLosses,
  EMPTY_LEDGER,
  openLedger,
  openOpencodeReader,
  type LedgerPiece,
  type LedgerState,
} from "@meridian/continuity"

import { fieldOf, listField, textField } from "./field.ts"

export interface Conversation {
  /** Takes messages in order, skipping anything else. Returns those not seen before. */
  readonly take: (messages: readonly unknown[]) => readonly unknown[]
  readonly note: (piece: LedgerPiece) => void
  readonly state: () => LedgerState
  /** The ledger at the last compaction; undefined when there was none. */
  readonly atCompaction: () => LedgerState | undefined
  /** Some messages before the first one are unknown. */
  readonly lacksStart: () => void
  readonly forget: () => void
}

const KEPT_KEYS = 10_000

export const openConversation = (): Conversation => {
  let ledger = openLedger()
  let reader = openOpencodeReader(createLosses())
  let compacted: LedgerState | undefined
  const seen = new Set<string>()

  const note = (piece: LedgerPiece): void => {
    ledger.take(piece)
    if (piece.kind === "summary") compacted = ledger.state()
  }

  return {
    note,
    take: (messages) => {
      const fresh: unknown[] = []
      for (const message of messages) {
        const key = keyOf(message)
        if (key === undefined || seen.has(key)) continue
        seen.add(key)
        fresh.push(message)
        for (const oldest of seen) {
          if (seen.size <= KEPT_KEYS) break
          seen.delete(oldest)
        }
        for (const piece of piecesOf(reader, message)) note(piece)
      }
      return fresh
    },
    state: () => ledger.state(),
    atCompaction: () => compacted,
    lacksStart: () => {
      ledger = openLedger({ ...ledger.state(), promptsDropped: ledger.state().promptsDropped + 1 })
    },
    forget: () => {
      ledger = openLedger(EMPTY_LEDGER)
      reader = openOpencodeReader(createLosses())
      compacted = undefined
      seen.clear()
    },
  }
}

/** Includes the number of parts: a message that has grown has new content. */
const keyOf = (message: unknown): string | undefined => {
  const info = fieldOf(message, "info")
  const id = textField(info, "id")
  return id === undefined
    ? undefined
    : `${id} ${textField(info, "role") ?? ""} ${listField(message, "parts").length}`
}

const piecesOf = (
  reader: ReturnType<typeof openOpencodeReader>,
  message: unknown,
): readonly LedgerPiece[] => {
  try {
    const info = fieldOf(message, "info")
    // The plugin's own message is not part of the conversation.
    if (typeof info !== "object" || info === null) return []
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the reader takes any JSON and checks what it uses
    return reader.read({ info, parts: listField(message, "parts") } as never)
  } catch {
    // A getter of a foreign object threw. Skip this message.
    return []
  }
}
