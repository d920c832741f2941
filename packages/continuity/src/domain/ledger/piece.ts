/**
 * The input of the ledger: one thing that a conversation says or a harness records, in order. The shape is the least that
 * every host can provide, so transcripts, OpenCode's messages and the engine's events all fit without being copied.
 */
import type { TodoItem, ToolKind } from "@meridian/protocol"

interface Dated {
  /** Milliseconds since 1970. */
  readonly time?: number
}

export type LedgerPiece =
  /** Typed by a person. */
  | (Dated & { readonly kind: "prompt"; readonly prompt: { readonly text: string } })
  /** Said by the agent. */
  | (Dated & { readonly kind: "text"; readonly text: string })
  | (Dated & {
      readonly kind: "call"
      readonly callID: string
      readonly tool: string
      readonly input?: unknown
      /** The kind of call, if its tool declares one. */
      readonly does?: ToolKind
    })
  | (Dated & {
      readonly kind: "result"
      readonly callID: string
      readonly content: readonly { readonly type: string; readonly text?: string }[]
      readonly failed?: boolean
    })
  /** The complete todo list from here on. */
  | (Dated & { readonly kind: "todo"; readonly items: readonly TodoItem[] })
  /** A compaction: this summary replaces everything before it. */
  | (Dated & { readonly kind: "summary"; readonly text: string })
  | (Dated & { readonly kind: "agent"; readonly name: string })
  | (Dated & { readonly kind: "mode"; readonly name: string })
  | (Dated & { readonly kind: "skill"; readonly name: string; readonly body: string })
  | (Dated & { readonly kind: "files"; readonly paths: readonly string[] })
  | { readonly kind: "window"; readonly tokens: number }
  /** Pieces without anything that must survive. */
  | { readonly kind: "reasoning" | "usage" | "failed" }
