/** The API for programs that embed the engine. Names here are fixed. */
import type {
  Caps,
  CompactionReceipt,
  Delivery,
  Overrides,
  Prompt,
  Receipt,
  RecoveryPolicy,
  RequestSettings,
  SessionMessage,
  StoredEvent,
  SyncedMarker,
  UnknownEvent,
} from "@meridian/protocol"

import type { EmbedderSource } from "./context/embedder-source.ts"
import type { Reference } from "./context/references.ts"
import type { ImportSource } from "./copy/index.ts"
import type { Spent } from "./domain/caps.ts"
import type { ImportPiece } from "./domain/import-piece.ts"
import type { ImportCounts } from "./domain/import.ts"
import type { EngineLimits } from "./domain/limits.ts"
import type { PermissionRule } from "./domain/permission.ts"
import type { RetryPolicy } from "./domain/retry.ts"
import type { Extension } from "./extension/index.ts"
import type { ModelConfig } from "./model/config.ts"
import type { DiffForm } from "./port/file-trees.ts"
import type { CommandTemplate } from "./port/location.ts"
import type { EventFrames, FollowPeer } from "./port/store.ts"
import type { LiveItem, Page, SessionChanges } from "./reading/index.ts"
import type { AgentMode } from "./session/index.ts"
import type { WrapCommand } from "./tool/bash.ts"
import type { EmbedderTool } from "./tool/embedder-tool.ts"
import type { McpConfiguration } from "./tool/mcp-servers.ts"
import type {
  OpenPermissionRequest,
  OpenQuestion,
  PermissionAnswer,
  QuestionAnswer,
  SavedPermission,
} from "./turn/index.ts"
import type { RestoredFile } from "./undo/index.ts"

/** A built-in name changes that agent; fields left out keep their built-in values. */
export interface AgentConfig extends RequestSettings {
  readonly name: string
  /** For people who choose, and for agents that may call it. */
  readonly description?: string
  /** Replaces the instructions for the model's family. */
  readonly prompt?: string
  /** Read after the engine's rules, so these win. */
  readonly permissions?: readonly PermissionRule[]
  /** Names or patterns such as `git_*`. Only tools that match one are offered. */
  readonly tools?: readonly string[]
  /** `provider/model`, or `provider/model:variant`. */
  readonly model?: string
  /** The most provider turns of one activity. On the last one the model is told to wrap up and gets no tools. */
  readonly steps?: number
  /** `primary`: people choose it. `sub`: only other agents call it. `all` (default): both. */
  readonly mode?: AgentMode
  /** Absent from lists for people, but can be chosen by name. */
  readonly hidden?: boolean
  /** The same five settings as above, as an object. A setting given above wins. */
  readonly settings?: RequestSettings
  /** Overrides the engine's policy. */
  readonly recovery?: RecoveryPolicy
  /**
   * What a session may use up while this agent works in it. The tightest of the engine's, this and the session's own
   * counts.
   */
  readonly budget?: Caps
}

export interface EngineOptions {
  /**
   * A file (created if missing), ":memory:", or a server that many machines share, as
   * `postgres://user@host/database?schema=meridian`.
   */
  readonly database: string
  /** Updates an older schema on a server. Without it such a schema is refused and left unchanged. */
  readonly migrate?: boolean
  /** On a server: what this node offers to sessions. False: it admits, reads and streams, but runs nothing. */
  readonly worker?: WorkerOptions | false
  /** How fragments of sessions on other nodes get here: `followPeer` of the HTTP client. */
  readonly followPeer?: FollowPeer
  readonly models: readonly ModelConfig[]
  /** The default model. Without it, the first of `models`. */
  readonly model?: string
  /** The last match wins. What no rule matches is asked. */
  readonly permissions?: readonly PermissionRule[]
  readonly tools?: readonly EmbedderTool[]
  readonly agents?: readonly AgentConfig[]
  /** MCP servers as tool sources: `{ name, command, args }` or `{ name, url }`, or an object of them by name. */
  readonly mcp?: McpConfiguration
  /** Variables that look like credentials but may be visible to commands and MCP servers. */
  readonly keepVariables?: readonly string[]
  /**
   * Puts a command of the model into a sandbox: gets the words that start it and its folder, returns the words that start
   * it in the sandbox.
   */
  readonly wrapCommand?: WrapCommand
  /** What the model is told besides the conversation and the built-in sources. */
  readonly context?: readonly EmbedderSource[]
  /** Files, globs or URLs with instructions, in order of precedence. */
  readonly instructions?: readonly string[]
  /** Allows instruction URLs in a private network. */
  readonly allowPrivateAddresses?: boolean
  readonly references?: readonly Reference[]
  /** `shell`: shell lines of the project's command templates may run, where the rules allow the command. */
  readonly commands?: { readonly shell?: boolean }
  /** Meridian's state folder. After a compaction the brief then reports runs of agents and what was launched. */
  readonly stateRoot?: string
  readonly compaction?: {
    readonly auto?: boolean
    /** The least number of tokens to keep free. The model's output limit counts when it is larger. */
    readonly buffer?: number
    /** Tokens of recent history that a checkpoint keeps verbatim. */
    readonly keepTokens?: number
    /** The model that summarises instead of the session's own. */
    readonly model?: string
    /** Replaces the built-in instructions for the summary. */
    readonly prompt?: string
    readonly timeoutMs?: number
    /** Prunes old tool results before a compaction is needed. */
    readonly prune?: boolean
  }
  /**
   * An unnamed session gets its title from the first words of its first prompt. With a model, that one is asked for a title
   * during the first turn; without an answer the words stay.
   */
  readonly titles?: {
    readonly model?: string
    readonly timeoutMs?: number
  }
  readonly limits?: Partial<EngineLimits>
  readonly retry?: Partial<RetryPolicy>
  /**
   * What to do about lost processes, when the engine opens and later. True (default): settles whatever they left and
   * resumes waiting inputs, in every session. A list: settles what they left in these sessions, but resumes nothing until
   * asked, so that many engines can share a database. False: only looks.
   */
  readonly recover?: boolean | readonly string[]
  /**
   * What becomes of work that a lost process cut off. "settle" (default): it is settled, and the session shows as
   * interrupted until somebody runs it. "continue": it resumes on its own as the same activity, and open calls are reported
   * as interrupted, never repeated. After three attempts without progress a question asks what to do.
   */
  readonly recovery?: RecoveryPolicy
  /**
   * What each session may use up: dollars, tokens of every kind, provider requests, milliseconds at work. Checked before
   * each turn and compaction, against the session's log. A session that has used it up waits for the answer to a question.
   */
  readonly budget?: Caps
  /**
   * Ignores answers to permission questions that are already in the database and asks again. For a database from somewhere
   * else, together with `recover: false`.
   */
  readonly asksAgain?: boolean
  /**
   * False: no files are kept before tools change them, so only conversations can be undone. Keeping files costs one look at
   * the files of the place per turn that may change any, and nothing for a turn that only reads.
   */
  readonly undo?: boolean
}

export interface WorkerOptions {
  /**
   * Workspaces by name, with their folders here. A list: paths are used as sessions give them. Default: `shared`, which
   * also holds sessions that name no workspace.
   */
  readonly workspaces?: { readonly [name: string]: string } | readonly string[]
  /** How many sessions this node works on at once. Default: 200. */
  readonly sessions?: number
  /** Where other nodes reach this node's HTTP server, to show the live output of its sessions. */
  readonly address?: string
}

export type SessionStatus = "idle" | "running" | "waiting" | "interrupted" | "failed"

/**
 * What a session waits for: an answer (to a permission request, a question, or about a budget), the end of a provider's
 * limit, or a node that can work on it.
 */
export type WaitingFor = "permission" | "question" | "limit" | "budget" | "worker"

export interface SessionInfo {
  readonly id: string
  readonly location: { readonly directory: string; readonly workspace?: string }
  readonly agent: string
  readonly model?: string
  readonly title?: string
  /** Set for a session that works for another: the call that began it, and its depth. */
  readonly parent?: {
    readonly sessionID: string
    readonly messageID: string
    readonly callID: string
    readonly depth: number
  }
  /** Archived: lists for people leave it out. */
  readonly archived?: boolean
  /** The sequence of the last event. */
  readonly seq: number
  readonly status: SessionStatus
  /** With status "waiting": for what. */
  readonly waitingFor?: WaitingFor
  /** Why no node can work on it. */
  readonly reason?: string
  /** When it continues on its own, in milliseconds since 1970. */
  readonly until?: number
  /** Where machines share the database: the node that works on it or last did, as host and process. */
  readonly node?: string
  /** Includes its children, once they have settled. */
  readonly usage: {
    readonly input: number
    readonly output: number
    readonly reasoning: number
    readonly cacheRead: number
    readonly cacheWrite: number
  }
  readonly cost: number
  readonly time: { readonly created: number; readonly updated: number }
}

export interface SessionStay {
  readonly node: string
  /** The last event at that time. Later events happened on this node. */
  readonly seq: number
  /** In milliseconds since 1970, by the clock of the database. */
  readonly time: number
}

export interface SessionBudget {
  readonly spent: Spent
  readonly caps: Caps
}

/** Where a session works. */
export interface Place {
  /** An absolute path. In a named workspace it may also be relative to that. */
  readonly directory: string
  /** A place that several machines have. Default: `shared`, the same path on all of them. */
  readonly workspace?: string
  /** Same as `workspace`. */
  readonly workspaceID?: string
}

export interface CreateInput {
  readonly id?: string
  readonly location: Place
  readonly agent?: string
  readonly model?: string
  readonly title?: string
  /** Overrides the policy of its agent and of the engine. */
  readonly recovery?: RecoveryPolicy
  /** The tightest of this, its agent's and the engine's counts. */
  readonly budget?: Caps
}

export interface ForkInput {
  readonly sessionID: string
  /** The id of the new session. Asking again with the same id returns the first fork. */
  readonly id?: string
  /** A message: the fork has the history up to and including it. The number of a prompt: with all of its work. */
  readonly at?: string | number
  /** Also restores the files of the place to that point. The source shares them: this is an undo of its files alone. */
  readonly files?: boolean
  /** Overwrites even files that others have changed since. */
  readonly overwrite?: boolean
}

export interface UndoInput {
  readonly sessionID: string
  /** How many prompts, with all of their work. Default: 1. */
  readonly count?: number
  /** Both are undone unless one is false. */
  readonly conversation?: boolean
  readonly files?: boolean
  /** Overwrites files that others have changed since. Without it the undo is refused. */
  readonly overwrite?: boolean
}

export interface RedoInput {
  readonly sessionID: string
  readonly overwrite?: boolean
}

export interface UndoResult {
  readonly undoID: string
  /** The undone or redone prompts, oldest first. */
  readonly prompts: readonly UndonePrompt[]
  readonly conversation: boolean
  /** What happened to files. Paths are relative to the top of their checkout, or to the place without one. */
  readonly files: readonly RestoredFile[]
  /** Files that somebody changed at the same moment. They are left unchanged. */
  readonly left: readonly string[]
  /** Why the files of some turns were left unchanged: they could not be kept. */
  readonly missed: readonly string[]
}

export interface UndonePrompt {
  readonly id: string
  readonly text: string
}

export interface FilesInput {
  readonly sessionID: string
  /** The number of a prompt, from 1, or the id of its message. Default: the last prompt. */
  readonly at?: string | number
  /** Adds the difference, as `git diff` prints it. */
  readonly diff?: DiffForm
}

export interface FilesResult {
  readonly prompt: UndonePrompt & { readonly number: number }
  readonly files: readonly RestoredFile[]
  readonly missed: readonly string[]
  /** Files that were too large to keep, or unreadable. */
  readonly skipped: readonly string[]
  readonly diff?: string
}

export interface ImportInput {
  /** The id of the new session. By default it is derived from the source, so the same source gives the same session. */
  readonly id?: string
  readonly location: Place
  readonly title?: string
  /** Which conversation, in which state. It identifies a retry; a changed source is refused. */
  readonly source: ImportSource
  /** When the conversation began, in milliseconds since 1970. */
  readonly began?: number
  /** In the order it was said. */
  readonly history: Iterable<ImportPiece> | AsyncIterable<ImportPiece>
}

export interface ImportResult {
  readonly session: SessionInfo
  /** False: the session already existed. */
  readonly created: boolean
  readonly counts: ImportCounts
}

/** `system`, `tools`, `settings` and `format` apply to the work that this prompt opens or joins, until it has settled. */
export interface PromptInput extends Overrides {
  readonly id?: string
  readonly sessionID: string
  readonly prompt: Prompt
  /** "steer" (default) joins the work at the next safe boundary. "queue" waits until it has settled. */
  readonly delivery?: Delivery
  /** False only admits. */
  readonly resume?: boolean
  /** The `traceparent` of the caller. The spans of the work belong to that trace, on whichever node it runs. */
  readonly trace?: string
  /**
   * Includes what the text names with `@`, as it is now, and replaces a `/` command by its template. Without it the text is
   * taken literally.
   */
  readonly expand?: boolean
}

export interface SyntheticInput {
  readonly sessionID: string
  readonly text: string
  readonly id?: string
}

export interface EventsInput {
  readonly sessionID: string
  /** Only events after this sequence. */
  readonly after?: number
  /** Continues with later commits of any process. A marker says where the replay ended. */
  readonly follow?: boolean
}

export interface PageInput {
  readonly cursor?: string
  readonly limit?: number
  readonly order?: "asc" | "desc"
  /** The item with which the total reaches this size as JSON is the last of the page. For callers that pass pages on. */
  readonly bytes?: number
}

/** A part of the waiting inputs. */
export interface InputsRange {
  /** Only inputs admitted after this sequence. */
  readonly after?: number
  readonly limit?: number
  /** The input with which the total reaches this size is the last. */
  readonly bytes?: number
}

export interface WaitOptions {
  readonly signal?: AbortSignal
}

export type SessionEvent = StoredEvent | UnknownEvent | SyncedMarker

/** Live fragments have no sequence. A slow reader is told how many it missed. */
export type { LiveItem, Page, SessionChanges } from "./reading/index.ts"
export type { EventFrames, FollowPeer } from "./port/store.ts"

export interface SessionsApi {
  /** Creates the session, or returns the existing one with this id. */
  readonly create: (input: CreateInput) => Promise<SessionInfo>
  /**
   * A new session with the settled history of another. Its next request is the one the source would send. What the source
   * has open (a turn, a call, a question) and its waiting inputs are not copied.
   */
  readonly fork: (input: ForkInput) => Promise<SessionInfo>
  /**
   * Undoes the last prompts: their part of the conversation, and the file changes of their work. Nothing leaves the log.
   * Refused while a process works on the session, and when others have changed the files since.
   */
  readonly undo: (input: UndoInput) => Promise<UndoResult>
  /** Redoes the last undo. Not possible after another prompt. */
  readonly redo: (input: RedoInput) => Promise<UndoResult>
  /** The file changes of one prompt. */
  readonly files: (input: FilesInput) => Promise<FilesResult>
  /** Imports a conversation from elsewhere as ordinary events, completely or not at all. */
  readonly import: (input: ImportInput, options?: WaitOptions) => Promise<ImportResult>
  readonly get: (sessionID: string) => Promise<SessionInfo>
  readonly list: (input?: PageInput) => Promise<Page<SessionInfo>>
  /**
   * Adds a message that no person wrote and that says so. The model reads it with its next request; it starts no work. The
   * same id with the same text is the same message.
   */
  readonly synthetic: (
    input: SyntheticInput,
  ) => Promise<Extract<SessionMessage, { readonly type: "synthetic" }>>
  /** The best matches for some words in one session, including what was compacted. */
  readonly search: (input: {
    readonly sessionID: string
    readonly words: string
  }) => Promise<readonly { readonly seq: number; readonly text: string }[]>
  /** The sessions that its calls began, oldest first. Each may have children of its own. */
  readonly children: (sessionID: string) => Promise<readonly SessionInfo[]>
  /** The commands that may be typed after a slash in a session. */
  readonly commands: (sessionID: string) => Promise<readonly CommandTemplate[]>
  /** Admits durably and, unless `resume` is false, schedules the work. An exact retry gets the first receipt. */
  readonly prompt: (input: PromptInput) => Promise<Receipt>
  /** Makes at least one provider attempt. Resolves when the session has settled, rejects with its failure. */
  readonly run: (sessionID: string, options?: WaitOptions) => Promise<void>
  /** Says that there may be work. The provider is called only for input that can be promoted. */
  readonly wake: (sessionID: string) => Promise<void>
  /** Stops the current work and returns when it has settled. Without work it does nothing. */
  readonly interrupt: (sessionID: string) => Promise<void>
  readonly wait: (sessionID: string, options?: WaitOptions) => Promise<void>
  /** Ids of the sessions at work in this process. */
  readonly active: () => Promise<readonly string[]>
  readonly events: (input: EventsInput, options?: WaitOptions) => AsyncIterable<SessionEvent>
  /** The same as frames of server-sent events, to pass on: the page after a place, undefined at the end. */
  readonly eventPage: (input: Pick<EventsInput, "sessionID" | "after">) => Promise<EventFrames | undefined>
  /** The same, page after page. */
  readonly eventFrames: (input: EventsInput, options?: WaitOptions) => AsyncIterable<EventFrames>
  /** Which sessions have new events, including those of other processes. */
  readonly changes: (options?: WaitOptions) => AsyncIterable<SessionChanges>
  readonly live: (sessionID: string, options?: WaitOptions) => AsyncIterable<LiveItem>
  /** Only of work in this process. Other nodes call this. */
  readonly ownLive: (sessionID: string, options?: WaitOptions) => AsyncIterable<LiveItem>
  readonly messages: (input: PageInput & { readonly sessionID: string }) => Promise<Page<SessionMessage>>
  readonly message: (input: {
    readonly sessionID: string
    readonly id: string
  }) => Promise<SessionMessage | undefined>
  /** Pending inputs, oldest first: all of them, or a range. */
  readonly inputs: (sessionID: string, range?: InputsRange) => Promise<readonly Receipt[]>
  readonly cancel: (input: { readonly sessionID: string; readonly id: string }) => Promise<Receipt>
  readonly switchModel: (input: { readonly sessionID: string; readonly model: string }) => Promise<void>
  readonly switchAgent: (input: { readonly sessionID: string; readonly agent: string }) => Promise<void>
  /** Compacts at the next safe boundary. Resolves when that is done; undefined when there was nothing to compact. */
  readonly compact: (sessionID: string, options?: WaitOptions) => Promise<CompactionReceipt | undefined>
  /** What each compaction kept and dropped, oldest first. */
  readonly receipts: (sessionID: string) => Promise<readonly CompactionReceipt[]>
  /** Each time a node took the session, oldest first; empty when machines do not share the database. */
  readonly stays: (sessionID: string) => Promise<readonly SessionStay[]>
  /** Returns to an older checkpoint, or without an id to the whole history. */
  readonly restore: (input: { readonly sessionID: string; readonly compactionID?: string }) => Promise<void>
  /** What the session has used up, and what it may. */
  readonly budget: (sessionID: string) => Promise<SessionBudget>
  /**
   * Sets what the session may use up, overriding its agent and the engine. A cap that is not named stays. A cap at or below
   * what is already used up is refused. A session that waited because of its budget continues.
   */
  readonly setBudget: (input: Caps & { readonly sessionID: string }) => Promise<SessionBudget>
  readonly move: (input: { readonly sessionID: string; readonly location: Place }) => Promise<void>
  readonly rename: (input: { readonly sessionID: string; readonly title: string }) => Promise<void>
  /** Archives the session or brings it back. Work is possible either way. */
  readonly archive: (input: { readonly sessionID: string; readonly archived: boolean }) => Promise<void>
  /** Permanently, with its whole log. Refused while a process works on it. */
  readonly delete: (sessionID: string) => Promise<void>
}

export interface PermissionsApi {
  /** Open requests of one session or of all. */
  readonly list: (input?: { readonly sessionID?: string }) => Promise<readonly OpenPermissionRequest[]>
  readonly reply: (answer: PermissionAnswer) => Promise<void>
  /** What was allowed permanently, in all projects, oldest first. */
  readonly saved: () => Promise<readonly SavedPermission[]>
  /** From now on it is asked again. */
  readonly revoke: (input: { readonly id: string }) => Promise<void>
}

export interface QuestionsApi {
  /** Open questions other than permission requests, of one session or of all. */
  readonly list: (input?: { readonly sessionID?: string }) => Promise<readonly OpenQuestion[]>
  readonly reply: (answer: QuestionAnswer) => Promise<void>
}

/** Synchronous, because nothing has to be awaited. Additions and removals take effect with the next turn. */
export interface ExtensionsApi {
  /** Throws INVALID_INPUT when it is not an extension, or its name is in use. Removing twice does nothing. */
  readonly add: (extension: Extension) => { readonly remove: () => void }
  /** The names, in the order they were added. */
  readonly list: () => readonly string[]
}

export interface Engine {
  readonly sessions: SessionsApi
  readonly permissions: PermissionsApi
  readonly questions: QuestionsApi
  readonly extensions: ExtensionsApi
  /** The secret by which the nodes of its cluster recognise each other; undefined without a cluster. */
  readonly clusterToken: string | undefined
  /** Whether it takes up work now, and if not, why. */
  readonly readiness: () => Readiness
  /**
   * Takes up no more work, lets every session end its turn and hands it over: its work continues in another process, or
   * when a process next opens this database. Everything else keeps working. Completes when no session is at work, or after
   * `ms`.
   */
  readonly drain: (options: DrainOptions) => Promise<void>
  /**
   * Interrupts and settles all work, ends every process and closes the database. With `drainMs` it first drains. Closing
   * again without it cuts that short.
   */
  readonly close: (options?: CloseOptions) => Promise<void>
}

export interface DrainOptions extends WaitOptions {
  readonly ms: number
}

export interface CloseOptions {
  readonly drainMs?: number
}

export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string }
