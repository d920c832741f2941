/**
 * The events of a session as pieces for continuity's ledger: what was asked, said, called and answered, in order. Every
 * host uses the same fold for what must survive a compaction; the engine only translates its events.
 *
 * The state is computed on demand, once per value. Reading the texts of a turn takes as long as one of its appends, and few
 * turns need the result.
 */
import { EMPTY_LEDGER, openLedger, type LedgerPiece, type LedgerState } from "@meridian/continuity/ledger"
import type { RecordedPrompt } from "@meridian/protocol"

import type { LoggedEvent } from "../logged-event.ts"
import { promptText } from "../prompt-parts.ts"

export interface Ledger {
  /** The state, or the unread pieces after an earlier value. */
  known: LedgerState | Unread
}

interface Unread {
  readonly earlier: Ledger
  readonly pieces: readonly LedgerPiece[]
}

export const NO_LEDGER: Ledger = { known: EMPTY_LEDGER }

export const foldLedger = (
  earlier: Ledger,
  events: readonly LoggedEvent[],
  promptOf: (messageID: string) => RecordedPrompt | undefined,
): Ledger => {
  const pieces = events.flatMap((event) => pieceOf(event, promptOf) ?? [])
  if (pieces.length === 0) return earlier
  const ledger: Ledger = { known: { earlier, pieces } }
  // The conversation drops its texts here, so the pieces must be folded now.
  if (pieces.some(({ kind }) => kind === "summary")) ledgerState(ledger)
  return ledger
}

export const ledgerState = (ledger: Ledger): LedgerState => {
  const unread: (readonly LedgerPiece[])[] = []
  let { known } = ledger
  for (; "earlier" in known; { known } = known.earlier) unread.push(known.pieces)
  if (unread.length === 0) return known
  const reading = openLedger(known)
  for (const piece of unread.toReversed().flat()) reading.take(piece)
  const state = reading.state()
  ledger.known = state
  return state
}

const pieceOf = (
  event: LoggedEvent,
  promptOf: (messageID: string) => RecordedPrompt | undefined,
): LedgerPiece | undefined => {
  const { time } = event
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- most events say nothing that must survive
  switch (event.type) {
    case "session.next.created.1":
      return event.data.agent === undefined ? undefined : { kind: "agent", name: event.data.agent }
    case "session.next.agent.switched.1":
      return { kind: "agent", name: event.data.agent }
    case "session.next.prompted.1":
      return { kind: "prompt", time, prompt: event.data.prompt }
    case "session.next.prompt.promoted.1": {
      // A prompt that was cancelled while it waited was never said.
      const prompt = promptOf(event.data.messageID)
      if (prompt === undefined || prompt.from !== undefined) return undefined
      return { kind: "prompt", time, prompt: { ...prompt, text: promptText(prompt) } }
    }
    case "session.next.text.ended.1":
      return { kind: "text", time, text: event.data.text }
    case "session.next.todo.updated.1":
      return { kind: "todo", time, items: event.data.items }
    case "session.next.tool.called.1": {
      const { callID, tool, input, kind: does } = event.data
      return { kind: "call", time, callID, tool, input, ...(does === undefined ? {} : { does }) }
    }
    case "session.next.tool.success.1": {
      const { callID, content } = event.data
      return { kind: "result", time, callID, content }
    }
    case "session.next.tool.failed.1":
      return { kind: "result", time, callID: event.data.callID, content: [], failed: true }
    case "session.next.compaction.ended.2":
      return { kind: "summary", time, text: event.data.summary }
    default:
      return undefined
  }
}

/** Paths the session works with, most recent last. */
export const workingSet = (ledger: Ledger): readonly string[] =>
  ledgerState(ledger).files.map(({ path }) => path)
