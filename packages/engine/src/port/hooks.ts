/**
 * Where extensions take part in a turn. Extensions may read what they get but not change it: they answer with a whole
 * value, or with nothing. When a hook fails, the value that holds without it is used, the failure is reported beside it,
 * and no work stops.
 */
import type { CompactionReason, Json, RequestSettings } from "@meridian/protocol"
import type { Effect } from "effect"

import type { ModelRequest, PromptMessage } from "./model.ts"
import type { ToolErrorCode, ToolOutput } from "./tool.ts"

/** A request before it is sent. `system` comes before the messages. */
export interface RequestView {
  readonly sessionID: string
  readonly agent: string
  readonly model: string
  readonly system: readonly string[]
  readonly messages: readonly PromptMessage[]
  readonly settings: RequestSettings
  readonly headers: Readonly<Record<string, string>>
}

export interface CallView {
  readonly sessionID: string
  readonly agent: string
  readonly messageID: string
  readonly callID: string
  readonly tool: string
  readonly input: Json
}

/** Replaces a call. The model reads why the call was not made. */
export interface RefusedCall {
  readonly refuse: string
}

/** A call that ended, with an output or with an error. */
export interface ResultView extends CallView {
  readonly output?: ToolOutput
  readonly error?: { readonly code: ToolErrorCode | "failed"; readonly message: string }
}

export interface TurnView {
  readonly sessionID: string
  readonly agent: string
  readonly model: string
  readonly messageID: string
  /** All the text the model wrote in the turn. */
  readonly text: string
  readonly calls: readonly { readonly callID: string; readonly tool: string }[]
}

/** What a checkpoint will replace. */
export interface CompactionView {
  readonly sessionID: string
  readonly reason: CompactionReason
  /** The summary of the previous checkpoint. */
  readonly previous: string
  readonly conversation: string
  readonly mostTokens: number
}

export interface SuppliedSummary {
  readonly summary: string
}

export interface HookFailure {
  readonly extension: string
  readonly hook: string
  readonly message: string
}

export interface Hooked<Value> {
  readonly value: Value
  readonly failures: readonly HookFailure[]
}

export type LetThrough =
  /** `by`: the last extension that changed the input. */
  | { readonly kind: "made"; readonly input: Json; readonly by: string | undefined }
  | { readonly kind: "refused"; readonly why: string; readonly by: string }

/** The hooks in force at one moment. A hook that no extension defines is absent and costs nothing. */
export interface ActiveHooks {
  readonly beforeRequest?: (
    request: ModelRequest,
    asked: { readonly agent: string; readonly model: string },
  ) => Effect.Effect<Hooked<ModelRequest>>
  readonly beforeTool?: (call: CallView) => Effect.Effect<Hooked<LetThrough>>
  readonly afterTool?: (result: ResultView) => Effect.Effect<Hooked<ToolOutput | undefined>>
  readonly afterTurn?: (turn: TurnView) => Effect.Effect<Hooked<undefined>>
  readonly onCompaction?: (
    compaction: CompactionView,
  ) => Effect.Effect<Hooked<(SuppliedSummary & { readonly by: string }) | undefined>>
}
