/** What programs that embed the engine are written against. Names here are fixed. */
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

/** One of the built-in names changes that agent; what is not said stays as it is there. */
export interface AgentConfig extends RequestSettings {
  readonly name: string
  /** For people who choose, and for agents that may call it. */
  readonly description?: string
  /** Instead of the instructions made for the family of the model. */
  readonly prompt?: string
  /** Read after the engine's, so they win. */
  readonly permissions?: readonly PermissionRule[]
  /** Names or patterns such as `git_*`: only tools that one of them fits are offered. */
  readonly tools?: readonly string[]
  /** `provider/model`, or `provider/model:variant`. */
  readonly model?: string
  /** Provider turns of one activity at most; the last is told to wrap up and gets no tools. */
  readonly steps?: number
  /** `primary`: people choose it; `sub`: only other agents call it; `all` (the default): both. */
  readonly mode?: AgentMode
  /** In no list for people; whoever knows its name can choose it. */
  readonly hidden?: boolean
  /** The same five as here, together; one that is said here goes first. */
  readonly settings?: RequestSettings
  /** Instead of the engine's. */
  readonly recovery?: RecoveryPolicy
  /** What a session may use up while it works in this agent; the tightest of the engine's, this and its own counts. */
  readonly budget?: Caps
}

export interface EngineOptions {
  /**
   * A file, made when it is missing, or ":memory:"; or a server that many machines share, as
   * `postgres://user@host/database?schema=meridian`.
   */
  readonly database: string
  /** Brings an older schema on a server up to date. Without it such a schema is refused and left as it is. */
  readonly migrate?: boolean
  /** On a server: what this node offers to sessions. False: it admits, reads and streams, and runs nothing. */
  readonly worker?: WorkerOptions | false
  /** How fragments of a session that another node works on come here: `followPeer` of the HTTP client. */
  readonly followPeer?: FollowPeer
  readonly models: readonly ModelConfig[]
  /** The default; without it the first of `models`. */
  readonly model?: string
  /** Last match wins; what no rule matches is asked. */
  readonly permissions?: readonly PermissionRule[]
  readonly tools?: readonly EmbedderTool[]
  readonly agents?: readonly AgentConfig[]
  /** MCP servers as tool sources: `{ name, command, args }` or `{ name, url }`, or an object of them by name. */
  readonly mcp?: McpConfiguration
  /** Variables that look like credentials and that commands and MCP servers may see all the same. */
  readonly keepVariables?: readonly string[]
  /** What puts a command of the model into a sandbox: given the words that start it and its folder, the words that do so in there. */
  readonly wrapCommand?: WrapCommand
  /** What the model is told beside the conversation, besides the built-in sources. */
  readonly context?: readonly EmbedderSource[]
  /** Files, globs or addresses with instructions, in order of precedence. */
  readonly instructions?: readonly string[]
  /** Lets addresses of instructions lie in a private network. */
  readonly allowPrivateAddresses?: boolean
  readonly references?: readonly Reference[]
  /** `shell`: shell lines of command templates that lie in the project may run, where the rules allow the command. */
  readonly commands?: { readonly shell?: boolean }
  /** Meridian's state folder: after a compaction the brief then tells how runs of agents stand, and what was launched. */
  readonly stateRoot?: string
  readonly compaction?: {
    readonly auto?: boolean
    /** Tokens kept free at least; the model's output allowance counts when it is greater. */
    readonly buffer?: number
    /** Tokens of recent history a checkpoint keeps word for word. */
    readonly keepTokens?: number
    /** Summarises instead of the session's own model. */
    readonly model?: string
    /** Instructions for the summary instead of the built-in ones. */
    readonly prompt?: string
    readonly timeoutMs?: number
    /** Lets old tool results go before a compaction is needed. */
    readonly prune?: boolean
  }
  /**
   * A session that nobody names is called by the first words of its first prompt. With a model, that one is asked for a title
   * beside the first turn; without an answer the words stay.
   */
  readonly titles?: {
    readonly model?: string
    readonly timeoutMs?: number
  }
  readonly limits?: Partial<EngineLimits>
  readonly retry?: Partial<RetryPolicy>
  /**
   * What is done about processes that were lost, when the engine opens and later. True (the default): whatever they left is
   * settled and inputs that wait are gone on with, in every session. A list: what they left in these sessions is settled;
   * nothing is gone on with before it is asked for, so that many engines can share a database. False: only looks.
   */
  readonly recover?: boolean | readonly string[]
  /**
   * What becomes of work that was cut off by the end of its process. "settle" (the default): it is settled, and the session shows
   * as interrupted until somebody runs it. "continue": it goes on by itself, as the same activity, and calls that were open are
   * reported as interrupted, never repeated; after three times without progress a question asks what to do.
   */
  readonly recovery?: RecoveryPolicy
  /**
   * What each session may use up: dollars, tokens of every kind, requests to a provider, milliseconds at work. Looked at before
   * each of its turns and compactions, in its log. One that has used it up waits for the answer to a question.
   */
  readonly budget?: Caps
  /**
   * Answers to permission questions that lie in the database count for nothing: what they allowed is asked again. For a
   * database that came from somewhere else, together with `recover: false`.
   */
  readonly asksAgain?: boolean
  /**
   * False: no files are kept before tools change them, so that only conversations can be taken back. Keeping them costs one look
   * at the files of the place for a turn that may change any of them, and none for one that only reads.
   */
  readonly undo?: boolean
}

export interface WorkerOptions {
  /**
   * Workspaces by name, with their folders here; a list: paths are as sessions say them. Without it `shared`, and sessions
   * that name no workspace are in that one.
   */
  readonly workspaces?: { readonly [name: string]: string } | readonly string[]
  /** How many sessions this node works on at once; 200 without it. */
  readonly sessions?: number
  /** Where the others reach this node's HTTP server, to show what its sessions write. */
  readonly address?: string
}

export type SessionStatus = "idle" | "running" | "waiting" | "interrupted" | "failed"

/**
 * An answer: to a permission request, to a question, about a budget. Or the end of a provider's limit. Or a node that can
 * work on it.
 */
export type WaitingFor = "permission" | "question" | "limit" | "budget" | "worker"

export interface SessionInfo {
  readonly id: string
  readonly location: { readonly directory: string; readonly workspace?: string }
  readonly agent: string
  readonly model?: string
  readonly title?: string
  /** It works for another session: which call of it began this one, and how deep it lies. */
  readonly parent?: {
    readonly sessionID: string
    readonly messageID: string
    readonly callID: string
    readonly depth: number
  }
  /** Put away: lists for people leave it out. */
  readonly archived?: boolean
  /** Sequence of the last event. */
  readonly seq: number
  readonly status: SessionStatus
  /** With status "waiting": for what. */
  readonly waitingFor?: WaitingFor
  /** Why nobody can work on it. */
  readonly reason?: string
  /** When it goes on by itself, in milliseconds since 1970. */
  readonly until?: number
  /** Where machines share the database: the one that works on it, or did last, by host and process. */
  readonly node?: string
  /** With what its children used up, once they have settled. */
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
  /** The last event then: what follows was done there. */
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
  /** An absolute path; in a workspace that is named also one inside of it. */
  readonly directory: string
  /** A place that several machines have. Without one it is `shared`: the same path on all of them. */
  readonly workspace?: string
  /** The same. */
  readonly workspaceID?: string
}

export interface CreateInput {
  readonly id?: string
  readonly location: Place
  readonly agent?: string
  readonly model?: string
  readonly title?: string
  /** Instead of what its agent or the engine says. */
  readonly recovery?: RecoveryPolicy
  /** The tightest of this, its agent's and the engine's counts. */
  readonly budget?: Caps
}

export interface ForkInput {
  readonly sessionID: string
  /** Of the new session; asking again with the same one returns the first fork. */
  readonly id?: string
  /** A message, and the fork has the history up to it and with it; or the number of a prompt, with everything it led to. */
  readonly at?: string | number
  /** The files of the place go back to how they stood there. They are the source's, too: an undo of its files alone. */
  readonly files?: boolean
  /** Also files that others have changed since. */
  readonly overwrite?: boolean
}

export interface UndoInput {
  readonly sessionID: string
  /** How many prompts, with everything they led to; 1 by default. */
  readonly count?: number
  /** Both are taken back unless one of them says false. */
  readonly conversation?: boolean
  readonly files?: boolean
  /** Also files that others have changed since: without it they are refused. */
  readonly overwrite?: boolean
}

export interface RedoInput {
  readonly sessionID: string
  readonly overwrite?: boolean
}

export interface UndoResult {
  readonly undoID: string
  /** Those taken back, or brought back, oldest first. */
  readonly prompts: readonly UndonePrompt[]
  readonly conversation: boolean
  /** What happened to files, relative to the top of their checkout, or of their place where there is none. */
  readonly files: readonly RestoredFile[]
  /** Files that somebody changed in the same moment: they stay as they are. */
  readonly left: readonly string[]
  /** Why files of some turn stay as they are: they could not be kept. */
  readonly missed: readonly string[]
}

export interface UndonePrompt {
  readonly id: string
  readonly text: string
}

export interface FilesInput {
  readonly sessionID: string
  /** The number of a prompt, from 1, or the id of its message; without it the last one. */
  readonly at?: string | number
  /** Adds the difference, as `git diff` prints it. */
  readonly diff?: DiffForm
}

export interface FilesResult {
  readonly prompt: UndonePrompt & { readonly number: number }
  readonly files: readonly RestoredFile[]
  readonly missed: readonly string[]
  /** Files that were too large to keep, or not to be read. */
  readonly skipped: readonly string[]
  readonly diff?: string
}

export interface ImportInput {
  /** Of the new session; without one it is made from the source, so the same source gives the same session. */
  readonly id?: string
  readonly location: Place
  readonly title?: string
  /** Which conversation, and in which state: a retry is recognised by it, a changed source is refused. */
  readonly source: ImportSource
  /** When the conversation began, in milliseconds since 1970. */
  readonly began?: number
  /** In the order it was said. */
  readonly history: Iterable<ImportPiece> | AsyncIterable<ImportPiece>
}

export interface ImportResult {
  readonly session: SessionInfo
  /** False: it was there already. */
  readonly created: boolean
  readonly counts: ImportCounts
}

/** `system`, `tools`, `settings` and `format` hold for the work that this prompt opens or joins, until it has settled. */
export interface PromptInput extends Overrides {
  readonly id?: string
  readonly sessionID: string
  readonly prompt: Prompt
  /** "steer" (default) joins the work at the next safe boundary; "queue" waits until it has settled. */
  readonly delivery?: Delivery
  /** False admits only. */
  readonly resume?: boolean
  /** The `traceparent` of what brings it: the spans of its work belong to that trace, whichever node does it. */
  readonly trace?: string
  /**
   * What the text names behind `@` goes along as it is now, and a command behind `/` becomes its template. Without it the text is
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
  /** Only events behind this sequence. */
  readonly after?: number
  /** Go on with what is committed later, in any process; a marker says where the replay ended. */
  readonly follow?: boolean
}

export interface PageInput {
  readonly cursor?: string
  readonly limit?: number
  readonly order?: "asc" | "desc"
  /** The item that reaches this size as JSON, with those before it, is the last of the page: for those who pass pages on. */
  readonly bytes?: number
}

/** A part of the inputs that wait. */
export interface InputsRange {
  /** Only those admitted behind this sequence. */
  readonly after?: number
  readonly limit?: number
  /** The one that reaches this size, with those before it, is the last. */
  readonly bytes?: number
}

export interface WaitOptions {
  readonly signal?: AbortSignal
}

export type SessionEvent = StoredEvent | UnknownEvent | SyncedMarker

/** Live fragments carry no sequence; a slow reader is told how many it missed. */
export type { LiveItem, Page, SessionChanges } from "./reading/index.ts"
export type { EventFrames, FollowPeer } from "./port/store.ts"

export interface SessionsApi {
  /** Makes the session, or returns the one that has this id already. */
  readonly create: (input: CreateInput) => Promise<SessionInfo>
  /**
   * A new session with the settled history of another: its next request is the one the source would send. What the source
   * has open (a turn, a call, a question) and what waits in its inbox is not copied.
   */
  readonly fork: (input: ForkInput) => Promise<SessionInfo>
  /**
   * Takes back what the last prompts led to: their part of the conversation, and what their work did to files. Nothing leaves the
   * log. Refused while somebody is at work on the session, and when others have changed the files since.
   */
  readonly undo: (input: UndoInput) => Promise<UndoResult>
  /** Takes the last undo back, until something else is said. */
  readonly redo: (input: RedoInput) => Promise<UndoResult>
  /** What one prompt led to in files. */
  readonly files: (input: FilesInput) => Promise<FilesResult>
  /** A conversation held elsewhere, as ordinary events. It is there whole or not at all. */
  readonly import: (input: ImportInput, options?: WaitOptions) => Promise<ImportResult>
  readonly get: (sessionID: string) => Promise<SessionInfo>
  readonly list: (input?: PageInput) => Promise<Page<SessionInfo>>
  /**
   * Adds a message that no person wrote, and that says so: the model reads it with its next request, and it asks for no work.
   * The same id with the same text is the same message.
   */
  readonly synthetic: (
    input: SyntheticInput,
  ) => Promise<Extract<SessionMessage, { readonly type: "synthetic" }>>
  /** The best places of one session for some words, also of what was compacted away. */
  readonly search: (input: {
    readonly sessionID: string
    readonly words: string
  }) => Promise<readonly { readonly seq: number; readonly text: string }[]>
  /** The sessions that its calls began, oldest first; each has children of its own. */
  readonly children: (sessionID: string) => Promise<readonly SessionInfo[]>
  /** What may be typed behind a slash in a session. */
  readonly commands: (sessionID: string) => Promise<readonly CommandTemplate[]>
  /** Admits durably and, unless `resume` is false, schedules execution. An exact retry gets the first receipt. */
  readonly prompt: (input: PromptInput) => Promise<Receipt>
  /** At least one provider attempt; resolves when the session has settled, rejects with its failure. */
  readonly run: (sessionID: string, options?: WaitOptions) => Promise<void>
  /** Says that there may be work; the provider is called only for input that can be promoted. */
  readonly wake: (sessionID: string) => Promise<void>
  /** Stops the current work and returns when it has settled; nothing to stop is fine. */
  readonly interrupt: (sessionID: string) => Promise<void>
  readonly wait: (sessionID: string, options?: WaitOptions) => Promise<void>
  /** Ids of the sessions at work in this process. */
  readonly active: () => Promise<readonly string[]>
  readonly events: (input: EventsInput, options?: WaitOptions) => AsyncIterable<SessionEvent>
  /** The same as frames of server-sent events, for those who pass them on: the page behind a place, undefined at the end. */
  readonly eventPage: (input: Pick<EventsInput, "sessionID" | "after">) => Promise<EventFrames | undefined>
  /** The same, page after page. */
  readonly eventFrames: (input: EventsInput, options?: WaitOptions) => AsyncIterable<EventFrames>
  /** Which sessions have new events, also those of other processes. */
  readonly changes: (options?: WaitOptions) => AsyncIterable<SessionChanges>
  readonly live: (sessionID: string, options?: WaitOptions) => AsyncIterable<LiveItem>
  /** Only of work in this process: what other nodes ask for. */
  readonly ownLive: (sessionID: string, options?: WaitOptions) => AsyncIterable<LiveItem>
  readonly messages: (input: PageInput & { readonly sessionID: string }) => Promise<Page<SessionMessage>>
  readonly message: (input: {
    readonly sessionID: string
    readonly id: string
  }) => Promise<SessionMessage | undefined>
  /** Pending ones, oldest first; all of them unless a range says which. */
  readonly inputs: (sessionID: string, range?: InputsRange) => Promise<readonly Receipt[]>
  readonly cancel: (input: { readonly sessionID: string; readonly id: string }) => Promise<Receipt>
  readonly switchModel: (input: { readonly sessionID: string; readonly model: string }) => Promise<void>
  readonly switchAgent: (input: { readonly sessionID: string; readonly agent: string }) => Promise<void>
  /** Compacts at the next safe boundary and resolves when that is done; undefined when there was nothing to compact. */
  readonly compact: (sessionID: string, options?: WaitOptions) => Promise<CompactionReceipt | undefined>
  /** What each compaction kept and dropped, oldest first. */
  readonly receipts: (sessionID: string) => Promise<readonly CompactionReceipt[]>
  /** Each time it came to a node, the oldest first; none where machines share no database. */
  readonly stays: (sessionID: string) => Promise<readonly SessionStay[]>
  /** Goes back to an older checkpoint; without one, to the whole history. */
  readonly restore: (input: { readonly sessionID: string; readonly compactionID?: string }) => Promise<void>
  /** What it has used up, and what it may. */
  readonly budget: (sessionID: string) => Promise<SessionBudget>
  /**
   * Sets what it may use up, whatever its agent and the engine say; a cap that is not named stays as it is. One at or below what
   * is used up already is refused. A session that waited because of its budget goes on.
   */
  readonly setBudget: (input: Caps & { readonly sessionID: string }) => Promise<SessionBudget>
  readonly move: (input: { readonly sessionID: string; readonly location: Place }) => Promise<void>
  readonly rename: (input: { readonly sessionID: string; readonly title: string }) => Promise<void>
  /** Puts it away, or takes it out again. It can be worked with either way. */
  readonly archive: (input: { readonly sessionID: string; readonly archived: boolean }) => Promise<void>
  /** For good, with its whole log. Refused while a process is at work on it. */
  readonly delete: (sessionID: string) => Promise<void>
}

export interface PermissionsApi {
  /** Open requests, of one session or of all. */
  readonly list: (input?: { readonly sessionID?: string }) => Promise<readonly OpenPermissionRequest[]>
  readonly reply: (answer: PermissionAnswer) => Promise<void>
  /** What was allowed for good, in all projects, oldest first. */
  readonly saved: () => Promise<readonly SavedPermission[]>
  /** From now on it is asked again. */
  readonly revoke: (input: { readonly id: string }) => Promise<void>
}

export interface QuestionsApi {
  /** Open questions that are no permission requests, of one session or of all. */
  readonly list: (input?: { readonly sessionID?: string }) => Promise<readonly OpenQuestion[]>
  readonly reply: (answer: QuestionAnswer) => Promise<void>
}

/** At once, because nothing has to be waited for: what comes is there from the next turn on, and so is what goes. */
export interface ExtensionsApi {
  /** Throws INVALID_INPUT where it is not an extension, or its name is taken. Removing twice does nothing. */
  readonly add: (extension: Extension) => { readonly remove: () => void }
  /** The names, in the order they came. */
  readonly list: () => readonly string[]
}

export interface Engine {
  readonly sessions: SessionsApi
  readonly permissions: PermissionsApi
  readonly questions: QuestionsApi
  readonly extensions: ExtensionsApi
  /** By which the nodes of its cluster know each other; undefined: it has none. */
  readonly clusterToken: string | undefined
  /** Whether it takes up work now, and if not, why. */
  readonly readiness: () => Readiness
  /**
   * Takes up no more work, lets every session at work end its turn and hands it over: it goes on in another process, or when
   * one opens this database again. Everything else goes on here. Done when nothing is at work, or after `ms`.
   */
  readonly drain: (options: DrainOptions) => Promise<void>
  /**
   * Interrupts what runs, settles it, ends every process and closes the database. `drainMs`: first as `drain`. Closing again
   * without it cuts that short.
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
