/**
 * What a tool is to the engine. A tool is plain async code: it decodes its own input, asks before it acts, gives up when
 * its signal aborts, and answers with content for the model or throws a ToolError.
 */
import type { Json, JsonObject, TodoItem } from "@meridian/protocol"

import type { Question } from "../domain/question.ts"
import type { ToolTraits, TraitsOf } from "../domain/tool-traits.ts"
import type { ToolAdvertisement } from "./model.ts"

export type ToolContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "media"; readonly mediaType: string; readonly base64: string }

export interface ToolOutput {
  readonly content: readonly ToolContent[]
  /** The same in a form a program can use; shown to people, not to the model. */
  readonly structured?: Json
  /** Where the full text is, when `content` was cut. */
  readonly outputPath?: string
}

export interface PermissionQuestion {
  /** `read`, `edit`, `bash`, `external_directory`, or a tool's own name. */
  readonly action: string
  /** Each must be allowed; one refusal refuses the call. Project-relative for paths inside the project. */
  readonly resources: readonly string[]
  /** What a person sees when asked. */
  readonly title: string
  readonly detail?: JsonObject
  /** What "always" saves, when it is wider than the resources themselves (`git status *`). */
  readonly always?: readonly string[]
}

export interface ToolScene {
  readonly sessionID: string
  readonly agent: string
  /** The assistant message the call belongs to: provider-local call ids may repeat across turns. */
  readonly messageID: string
  readonly callID: string
  /** Aborts on interrupt, shutdown and lost lease. A tool settles promptly after it. */
  readonly signal: AbortSignal
  /** Resolves when allowed; rejects with a ToolError that carries the rule or the person's words. */
  readonly ask: (question: PermissionQuestion) => Promise<void>
  /** What a person answers, however long that takes. */
  readonly question: (question: Question) => Promise<readonly string[]>
  /** Gives work to another agent, in a session of its own. */
  readonly task: (task: TaskRequest) => Promise<TaskResult>
  /** The session's list of work. */
  readonly todo: {
    readonly read: () => Promise<readonly TodoItem[]>
    readonly replace: (items: readonly TodoItem[]) => Promise<void>
  }
}

export interface TaskRequest {
  readonly title: string
  readonly prompt: string
  /** Without one, that of the session itself where it may be called. */
  readonly agent: string | undefined
  /** Does not wait: what comes of it is an input later. */
  readonly background: boolean
}

export interface TaskResult {
  readonly sessionID: string
  readonly agent: string
  /** What it said last; undefined while it works in the background. */
  readonly text: string | undefined
  readonly cost: number
}

export interface Tool {
  readonly advertisement: ToolAdvertisement
  readonly traits?: ToolTraits
  /** `input` is the parsed JSON the model sent; the tool checks its shape and throws ToolError when it does not fit. */
  readonly execute: (input: Json, scene: ToolScene) => Promise<ToolOutput>
}

/** A tool of the engine's own: what it says about itself before any place is open, and how it is opened there. */
export interface BuiltinTool<Options> {
  readonly name: string
  readonly traits: ToolTraits
  readonly open: (options: Options) => Tool
}

/** The tools of a Location as they are at one moment; a call through an older list is refused. */
export interface ToolSet {
  readonly advertisements: readonly ToolAdvertisement[]
  readonly traitsOf: TraitsOf
  readonly call: (name: string, input: Json, scene: ToolScene) => Promise<ToolOutput>
}

/** A failure the model should read and react to. Its message is shown to the model as it is. */
export class ToolError extends Error {
  override readonly name = "ToolError"
  readonly code: ToolErrorCode

  constructor(code: ToolErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export type ToolErrorCode =
  | "invalid-input"
  | "unknown-tool"
  | "stale-tool"
  | "denied" // a rule says no
  | "rejected" // a person said no
  | "not-found"
  | "failed"
  | "timeout"
  | "interrupted"
  | "invalid-output"
