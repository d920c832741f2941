/** An extension as a program writes it: what it adds to an engine, for as long as it is there. */
import type { EmbedderSource } from "../context/embedder-source.ts"
import type {
  CallView,
  CompactionView,
  RefusedCall,
  RequestView,
  ResultView,
  SuppliedSummary,
  TurnView,
} from "../port/hooks.ts"
import type { ToolOutput } from "../port/tool.ts"
import type { EmbedderTool } from "../tool/embedder-tool.ts"

export interface Extension {
  /** One at a time may have it. */
  readonly name: string
  /** Only in this folder and below; without it everywhere. */
  readonly directory?: string
  readonly tools?: readonly EmbedderTool[]
  /** What the model is told beside the conversation. */
  readonly context?: readonly EmbedderSource[]
  readonly hooks?: ExtensionHooks
  /** How long one hook may take; 2 seconds by default. */
  readonly hookTimeoutMs?: number
}

export interface HookOptions {
  /** Aborts when the hook has taken too long, or when the work is interrupted. */
  readonly signal: AbortSignal
}

type Given<Value> = Value | undefined | Promise<Value | undefined>

/** What is given is frozen. An answer is a whole value; no answer leaves everything as it is. */
export interface ExtensionHooks {
  /** Changes what this one request is; nothing of it is remembered. */
  readonly beforeRequest?: (request: RequestView, options: HookOptions) => Given<RequestView>
  /** Changes the input of a call, or refuses it. */
  readonly beforeTool?: (call: CallView, options: HookOptions) => Given<CallView | RefusedCall>
  /** Changes what a call has given before it is recorded. The answer to a call that failed is not looked at. */
  readonly afterTool?: (result: ResultView, options: HookOptions) => Given<{ readonly output?: ToolOutput }>
  /** Looks at a turn that has ended. */
  readonly afterTurn?: (turn: TurnView, options: HookOptions) => unknown
  /** Supplies the summary of a checkpoint instead of the model. */
  readonly onCompaction?: (compaction: CompactionView, options: HookOptions) => Given<SuppliedSummary>
}

export type HookName = keyof ExtensionHooks

export const HOOK_NAMES = [
  "beforeRequest",
  "beforeTool",
  "afterTool",
  "afterTurn",
  "onCompaction",
] as const satisfies readonly HookName[]
