/**
 * What a conversation says, piece by piece and in order, for any harness. Readers of transcripts make pieces. An import
 * turns the spoken ones into events of the engine, and the ledger folds all of them into facts.
 */
import type { Json, Prompt, RecordedContent, RecordedUsage, TodoItem } from "@meridian/protocol"

interface Dated {
  /** Milliseconds since 1970. Default: the time of the previous piece. */
  readonly time?: number
}

/** Part of a model's answer. Consecutive pieces with the same `turn` are one turn. */
interface OfTurn extends Dated {
  readonly turn: string
  /** The source's name for the message. A later summary may list it among those it keeps. */
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
      /** Present when the model's arguments were not JSON. */
      readonly raw?: string
    })
  | (Dated & {
      readonly kind: "result"
      readonly callID: string
      readonly content: readonly RecordedContent[]
      readonly failed?: boolean
    })
  /** The complete todo list from here on. */
  | (Dated & { readonly kind: "todo"; readonly items: readonly TodoItem[] })
  /** The usage of the turn. A later piece replaces an earlier one. */
  | { readonly kind: "usage"; readonly turn: string; readonly usage: RecordedUsage; readonly cost?: number }
  /** The turn ended in an error. */
  | (OfTurn & { readonly kind: "failed"; readonly message: string })
  /** This summary replaces everything before it, except the messages it keeps. */
  | (Dated & {
      readonly kind: "summary"
      readonly text: string
      readonly keep?: readonly string[]
      readonly tokens?: { readonly before: number; readonly after: number }
      readonly manual?: boolean
      /** The usage of the model that wrote it. */
      readonly usage?: RecordedUsage
      readonly cost?: number
    })

/** What a harness records beside the conversation: nobody said it, but it matters after a compaction. */
export type StatePiece =
  | (Dated & { readonly kind: "agent"; readonly name: string })
  | (Dated & { readonly kind: "mode"; readonly name: string })
  | (Dated & { readonly kind: "skill"; readonly name: string; readonly body: string })
  /** Files that a command read or wrote, if the harness reports them. */
  | (Dated & { readonly kind: "files"; readonly paths: readonly string[] })
  /** The model's context window in tokens. */
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
