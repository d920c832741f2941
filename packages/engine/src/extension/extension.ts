/** An extension as a program writes it: what it adds to an engine while it is present. */
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
  /** Unique among the extensions of an engine. */
  readonly name: string
  /** Applies only in this folder and below. Default: everywhere. */
  readonly directory?: string
  readonly tools?: readonly EmbedderTool[]
  /** What the model is told besides the conversation. */
  readonly context?: readonly EmbedderSource[]
  readonly hooks?: ExtensionHooks
  /** How long one hook may take. Default: 2 seconds. */
  readonly hookTimeoutMs?: number
}

export interface HookOptions {
  /** Aborts when the hook takes too long, or when the work is interrupted. */
  readonly signal: AbortSignal
}

type Given<Value> = Value | undefined | Promise<Value | undefined>

/** Arguments are frozen. An answer is a whole value; no answer leaves everything as it is. */
export interface ExtensionHooks {
  /** Changes this one request. Later requests are not affected. */
  readonly beforeRequest?: (request: RequestView, options: HookOptions) => Given<RequestView>
  /** Changes the input of a call, or refuses the call. */
  readonly beforeTool?: (call: CallView, options: HookOptions) => Given<CallView | RefusedCall>
  /** Changes the result of a call before it is recorded. For a failed call the answer is ignored. */
  readonly afterTool?: (result: ResultView, options: HookOptions) => Given<{ readonly output?: ToolOutput }>
  /** Sees each turn that has ended. */
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
