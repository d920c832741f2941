/**
 * What a tool is to the engine. A tool is plain async code. It decodes its own input, asks before it acts and stops when
 * its signal aborts. It answers with content for the model, or throws a ToolError.
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
  /** The same content in a form for programs. People see it, the model does not. */
  readonly structured?: Json
  /** Where the full text is, when `content` was cut. */
  readonly outputPath?: string
}

export interface PermissionQuestion {
  /** `read`, `edit`, `bash`, `external_directory`, or the name of the tool. */
  readonly action: string
  /** Each must be allowed; one refusal refuses the call. Paths inside the project are project-relative. */
  readonly resources: readonly string[]
  /** What a person sees in the question. */
  readonly title: string
  readonly detail?: JsonObject
  /** What "always" saves, when that is wider than the resources themselves (`git status *`). */
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
  /** The answer of a person, however long it takes. */
  readonly question: (question: Question) => Promise<readonly string[]>
  /** Gives work to another agent, in a separate session. */
  readonly task: (task: TaskRequest) => Promise<TaskResult>
  /** The session's todo list. */
  readonly todo: {
    readonly read: () => Promise<readonly TodoItem[]>
    readonly replace: (items: readonly TodoItem[]) => Promise<void>
  }
}

export interface TaskRequest {
  readonly title: string
  readonly prompt: string
  /** Without it: the session's own agent, where that may be called. */
  readonly agent: string | undefined
  /** The call does not wait. The result arrives later as an input. */
  readonly background: boolean
}

export interface TaskResult {
  readonly sessionID: string
  readonly agent: string
  /** Its last words; undefined while it works in the background. */
  readonly text: string | undefined
  readonly cost: number
}

export interface Tool {
  readonly advertisement: ToolAdvertisement
  readonly traits?: ToolTraits
  /**
   * `input` is the parsed JSON that the model sent. The tool checks its shape and throws ToolError when it does not fit.
   */
  readonly execute: (input: Json, scene: ToolScene) => Promise<ToolOutput>
}

/** A built-in tool: what it declares before any place is open, and how to open it at a place. */
export interface BuiltinTool<Options> {
  readonly name: string
  readonly traits: ToolTraits
  readonly open: (options: Options) => Tool
}

/** The tools of a Location at one moment. A call through an older list is refused. */
export interface ToolSet {
  readonly advertisements: readonly ToolAdvertisement[]
  readonly traitsOf: TraitsOf
  readonly call: (name: string, input: Json, scene: ToolScene) => Promise<ToolOutput>
}

/** A failure that the model should read and react to. The model sees its message unchanged. */
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
  | "denied" // a rule denies it
  | "rejected" // a person rejected it
  | "not-found"
  | "failed"
  | "timeout"
  | "interrupted"
  | "invalid-output"
