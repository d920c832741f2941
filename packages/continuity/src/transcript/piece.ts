/**
 * What a conversation says, piece by piece and in order, whichever harness it is held in. Readers of transcripts make
 * pieces; an import turns the spoken ones into events of the engine, and the ledger folds all of them into facts.
 */
import type { Json, Prompt, RecordedContent, RecordedUsage, TodoItem } from "@meridian/protocol"

interface Dated {
  /** Milliseconds since 1970; without one, the time of the piece before. */
  readonly time?: number
}

/** Part of one answer of a model: pieces with the same `turn` in a row are one turn. */
interface OfTurn extends Dated {
  readonly turn: string
  /** What the source calls the message; a later summary may name it among those it keeps. */
  readonly key?: string
  readonly model?: string
  readonly agent?: string
}

export type SpokenPiece =
  | (Dated & { readonly kind: "prompt"; readonly key?: string; readonly prompt: Prompt })
  | (OfTurn & { readonly kind: "text" | "reasoning"; readonly text: string })
  | (OfTurn & {
      readonly kind: "call"
      readonly callID: string
      readonly tool: string
      readonly input?: Json
      /** When the model's arguments were not JSON. */
      readonly raw?: string
    })
  | (Dated & {
      readonly kind: "result"
      readonly callID: string
      readonly content: readonly RecordedContent[]
      readonly failed?: boolean
    })
  /** The list of work as it stands from here on. */
  | (Dated & { readonly kind: "todo"; readonly items: readonly TodoItem[] })
  /** What the turn cost; the last word counts. */
  | { readonly kind: "usage"; readonly turn: string; readonly usage: RecordedUsage; readonly cost?: number }
  /** The turn ended in an error. */
  | (OfTurn & { readonly kind: "failed"; readonly message: string })
  /** Everything before stands in this summary from here on, but for the messages it keeps. */
  | (Dated & {
      readonly kind: "summary"
      readonly text: string
      readonly keep?: readonly string[]
      readonly tokens?: { readonly before: number; readonly after: number }
      readonly manual?: boolean
      /** Of the model that wrote it. */
      readonly usage?: RecordedUsage
      readonly cost?: number
    })

/** What a harness records beside the conversation: nobody said it, and it matters after a compaction. */
export type StatePiece =
  | (Dated & { readonly kind: "agent"; readonly name: string })
  | (Dated & { readonly kind: "mode"; readonly name: string })
  | (Dated & { readonly kind: "skill"; readonly name: string; readonly body: string })
  /** Files a command read or wrote, where the harness says so itself. */
  | (Dated & { readonly kind: "files"; readonly paths: readonly string[] })
  /** Tokens the model can hold. */
  | { readonly kind: "window"; readonly tokens: number }

export type Piece = SpokenPiece | StatePiece

const STATE: ReadonlySet<string> = new Set([
  "agent",
  "mode",
  "skill",
  "files",
  "window",
] satisfies readonly StatePiece["kind"][])

/** Whether a piece is part of the conversation itself. */
export const isSpoken = (piece: Piece): piece is SpokenPiece => !STATE.has(piece.kind)
