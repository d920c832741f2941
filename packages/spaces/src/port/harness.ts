/**
 * What spaces expect of a harness: a value that turns a request into a plan, and a stream into events and a verdict.
 * It never starts a process. The launcher does that by the plan, and feeds the parser:
 *
 *   const plan = harness.launch(request)           // write plan.files, start plan.command, give it plan.stdin
 *   const reader = readStream(harness.parser({ … })) // harness/read-stream.ts: bytes -> lines -> events, bounded
 *   reader.feed(chunk)                             // -> events; record `session` at once, stop on `give-up`
 *   reader.end({ exitCode, signal, stderrTail })   // -> the last events and the verdict
 *
 * An interactive harness has no stream. Its end is its exit code. Its session id is `plan.harnessSessionId`, or what
 * `findSession` reads from the files it left.
 */
import type { Facts, HarnessSessionId, Json, JsonObject, RunOffer } from "@meridian/protocol"

import type { FailureClass } from "../domain/failure-class.ts"
import type { Rest } from "../domain/run-caps.ts"
import type { PermissionTier } from "../domain/tier.ts"
import type { WarningCode } from "../domain/warning.ts"

export const HARNESS_IDS = ["claude", "codex", "opencode", "direct"] as const
export type BuiltInHarness = (typeof HARNESS_IDS)[number]

/** An agent of the user's configuration that speaks the Agent Client Protocol: `[harness.acp.NAME]`. */
export type AcpHarness = `acp:${string}`
export const ACP_PREFIX = "acp:"
export const isAcp = (id: string): id is AcpHarness => /^acp:[A-Za-z0-9][\w.-]{0,63}$/.test(id)

export type HarnessId = BuiltInHarness | AcpHarness

export interface Harness {
  readonly id: HarnessId
  /** The name in messages: `Claude`, `Codex`, `OpenCode`. */
  readonly name: string
  /** The program looked up on PATH if the configuration names no other. */
  readonly binary: string
  readonly capabilities: HarnessCapabilities
  /**
   * When words sent to a headless run reach its agent. The engine takes them at its next step. A harness whose launch
   * has our hook or plugin tells them after the next tool. The others get them with the next message.
   */
  readonly steering: "step" | "tool" | "message"
  /**
   * Pure. Throws USAGE for words after `--` that no program would ever check. Absent for a harness that reads its own
   * command line: it gets the words we do not know.
   */
  readonly checkParams?: (params: readonly string[]) => void
  /** Pure. Never fails: what the harness cannot do becomes a warning in the plan. */
  readonly launch: (request: LaunchRequest) => LaunchPlan
  /** A fresh parser for one attempt of one headless run. */
  readonly parser: (options?: ParserOptions) => StreamParser
  /**
   * The native id of an interactive session that was started without a known one. Reads only files the harness wrote,
   * and may ask the harness itself once it has ended. Undefined if nothing fits yet. Never throws.
   */
  readonly findSession: (search: SessionSearch) => Promise<HarnessSessionId | undefined>
  /**
   * False if the harness certainly kept nothing under this id: the conversation was left before its first message.
   * Absent if every conversation can be continued once begun.
   */
  readonly isKept?: (lookup: SessionLookup) => Promise<boolean>
  /**
   * Whether a session without an answer still holds its first prompt, so that it can be continued. Absent if it
   * cannot. Never throws.
   */
  readonly holdsPrompt?: (lookup: SessionLookup) => Promise<boolean>
  /** Whether a session was told all these words since a moment. Absent if that cannot be seen. Never throws. */
  readonly holdsWords?: (search: WordSearch) => Promise<boolean>
  /**
   * What a session had used up before this run, for harnesses that report totals. Pass it to `parser` when continuing
   * or forking. Undefined if the harness reports per run anyway, or if nothing is known. Never throws.
   */
  readonly usageBefore: (lookup: SessionLookup) => Promise<Usage | undefined>
  /**
   * The requests of a session and its sub-agents since a moment, as the harness itself recorded them. Its stream may
   * report late, leave out sub-agents, or be cut off. Absent if the harness keeps nothing.
   */
  readonly keptRequests?: (search: KeptSearch) => KeptRequests
}

export interface KeptSearch extends SessionLookup {
  /** In milliseconds since 1970. */
  readonly sinceMs: number
}

export interface WordSearch extends SessionLookup {
  /** In milliseconds since 1970. */
  readonly sinceMs: number
  readonly words: readonly string[]
}

/** Returns all requests at each call, oldest first, and never reads the same record twice. Never throws. */
export type KeptRequests = () => Promise<readonly KeptRequest[]>

/** One request whose answer has ended. */
export interface KeptRequest {
  readonly atMs: number
  /** The provider's name for it. */
  readonly model: string
  /** Neither read from a cache nor written into one. */
  readonly inputTokens: number
  readonly cacheWriteTokens: number
  readonly cachedInputTokens: number
  readonly outputTokens: number
  readonly costUsd?: number
}

export interface HarnessCapabilities {
  readonly fork: boolean
  /** The launcher may choose the native id of a new (or forked) session. */
  readonly chooseSession: boolean
  /** A chosen id may be launched again and continues where it was, so later attempts of a run do nothing twice. */
  readonly reopenSession: boolean
  /** An agent profile is passed as an agent of the harness, not as text. */
  readonly nativeAgent: boolean
  /** The harness finds skills in its own folders. */
  readonly nativeSkills: boolean
  /** `instructions` of a headless run go into the system prompt; otherwise they come before the prompt. */
  readonly systemPrompt: boolean
  /** Reports the cost of a run in dollars. */
  readonly cost: boolean
  /** Can be started on a terminal by `meridian start`. */
  readonly interactive: boolean
  /** Can hold its answer to a JSON Schema (`schema` of a launch). */
  readonly schema: boolean
}

export interface LaunchRequest {
  readonly mode: "interactive" | "headless"
  /** Replaces `harness.binary`: a path or a name on PATH. */
  readonly binary?: string
  /** Absolute. A continued session must run where it was started. */
  readonly cwd: string
  /** The launcher's own environment. What the user set there is respected or extended, never lost. */
  readonly environment: Environment
  readonly session: SessionChoice
  /** The harness's own name for the model. Absent: its default. */
  readonly model?: string
  /** Headless: the whole prompt. Interactive: the first message, if any. */
  readonly prompt?: string
  /**
   * Agent body, skills and other standing text. It goes where the harness keeps standing text, else before the
   * prompt, and is never dropped. Pass it at every launch: the adapter knows whether a continued session still has
   * it.
   */
  readonly instructions?: string
  /** A continuation overrides agent or skills: the text must be sent again even if the session keeps the old one. */
  readonly instructionsChanged?: boolean
  /** Used with `capabilities.nativeAgent`; otherwise its body joins the instructions. */
  readonly agent?: NativeAgent
  /** Absent: the harness's own default (interactive only; a headless run is `read-only` then). */
  readonly permission?: PermissionTier
  /** Replaces the tools the tier would allow, in the harness's own words. */
  readonly allowedTools?: readonly string[]
  readonly effort?: string
  /**
   * `params`: the words after `--`, and known flags of harnesses. Flags known only to another harness are left out
   * and warned about.
   */
  readonly params?: readonly string[]
  /**
   * The sandbox's network, for the engine, which sandboxes its own commands. Other harnesses are started inside a
   * sandbox.
   */
  readonly sandbox?: "on" | "off"
  /** JSON Schema of the answer, with `capabilities.schema`. The report is then that value as JSON. Headless only. */
  readonly schema?: JsonObject
  /** Servers for this launch only. */
  readonly mcpServers?: readonly McpServer[]
  /** Keeps facts over a compaction in this launch, if neither the project nor the user has set that up. */
  readonly continuity?: LaunchContinuity
  /** What it may still use up, for harnesses that enforce it themselves. The launcher stops the others. */
  readonly rest?: Rest
  /** Words sent to the run and not told yet, for a harness that takes them by number (`steering: "step"`). */
  readonly words?: RunOffer["words"]
  /** Questions wait for a person instead of being refused, for harnesses that can wait. */
  readonly asks?: boolean
  /** An absolute directory for the plan's files (the run's or the chat's own). */
  readonly scratch: string
}

export interface LaunchContinuity {
  /** Settings of Claude Code with our hooks, as JSON. */
  readonly settings?: string
  /** The address of our plugin for OpenCode. */
  readonly plugin?: string
  /** Why the harness could not get it, in words: after a compaction there, nothing is pinned. */
  readonly missing?: string
}

export type Environment = Readonly<Record<string, string | undefined>>

export type SessionChoice =
  /** `chosen`: a fresh UUID, used with `capabilities.chooseSession`. */
  | { readonly kind: "new"; readonly chosen?: string }
  | { readonly kind: "continue"; readonly id: HarnessSessionId }
  | { readonly kind: "fork"; readonly id: HarnessSessionId; readonly chosen?: string }

export interface NativeAgent {
  readonly name: string
  readonly description: string
  readonly body: string
  readonly tools?: readonly string[]
}

export interface McpServer {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

export interface LaunchPlan {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** Laid over the launcher's environment; `undefined` removes a variable. */
  readonly environment: Environment
  readonly stdin: PlannedStdin
  /** Written (mode 0600, folders made) before the launch. */
  readonly files: readonly PlannedFile[]
  /** Set if known before the launch; otherwise the stream or `findSession` reports it. */
  readonly harnessSessionId?: HarnessSessionId
  readonly warnings: readonly PlanWarning[]
}

export type PlannedStdin =
  /** Write it, then close. */
  | { readonly kind: "text"; readonly text: string }
  /** The terminal of the launcher. */
  | { readonly kind: "inherit" }

export interface PlannedFile {
  readonly path: string
  readonly content: string
}

/** Passed to `world.warn(code, facts)`. */
export interface PlanWarning {
  readonly code: Extract<WarningCode, "UNSUPPORTED_FLAG">
  readonly facts: Facts
}

/** Tokens and dollars of one run. `inputTokens` excludes what was read from a cache; `outputTokens` includes reasoning. */
export interface Usage {
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly outputTokens: number
  readonly costUsd?: number
}

export interface ParserOptions {
  /** The run continues or forks a session: the stream's totals are not this run's. */
  readonly continued?: boolean
  /** From `usageBefore`, or the `sessionUsage` of the previous run's verdict. */
  readonly usageBefore?: Usage
}

/** Incremental and pure: state inside, no I/O, never throws, bounded memory for any input. */
export interface StreamParser {
  /** One line of stdout without its newline. A line that is not a JSON object is skipped and counted. */
  readonly push: (line: string) => readonly HarnessEvent[]
  /** Only the beginning of a line longer than the reader keeps. */
  readonly pushCut: (start: string, bytes: number) => readonly HarnessEvent[]
  /** Call once, after the last line. */
  readonly end: (end: ProcessEnd) => Verdict
}

/** One fact of a run, in the same shape for every harness. `encodeEvent` turns it into a line of `events.jsonl`. */
export type HarnessEvent =
  /** The native session id, as soon as the stream shows it; again if it changes. */
  | { readonly type: "session"; readonly harnessSessionId: HarnessSessionId }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "tool.started"; readonly call: string; readonly tool: string; readonly input: Json }
  | {
      readonly type: "tool.ended"
      readonly call: string
      readonly tool: string
      readonly status: "completed" | "failed"
      readonly output: string
    }
  /** A file the run wrote, under the name the harness gave. */
  | { readonly type: "file"; readonly path: string; readonly change: "written" | "deleted" }
  | {
      readonly type: "compaction"
      readonly phase: "started" | "ended" | "failed"
      readonly tokensBefore?: number
      readonly tokensAfter?: number
    }
  /** The harness itself retries. */
  | {
      readonly type: "retry"
      readonly attempt: number
      readonly failure: FailureClass
      readonly message: string
    }
  | { readonly type: "warning"; readonly message: string }
  | {
      readonly type: "error"
      readonly failure: FailureClass
      readonly message: string
      /** How long the provider asks us to wait. */
      readonly retryAfterMs?: number
    }
  | { readonly type: "usage"; readonly usage: Usage }
  /** One request of a turn that a later `usage` sums up: the usage so far, for readers that must know before the end. */
  | { readonly type: "spending"; readonly usage: Usage }
  /** It waits for a person's answer, or no longer does. */
  | {
      readonly type: "waiting"
      readonly for: "permission" | "question" | "nothing"
      readonly message: string
    }
  /** The harness has the words sent to the run, up to this number. */
  | { readonly type: "told"; readonly upTo: number }
  /** A model turn ended; `reason` in the harness's own words. */
  | { readonly type: "turn.ended"; readonly reason: string }
  /** Nothing good can follow. The launcher ends the process group now, and the verdict will say why. */
  | { readonly type: "give-up"; readonly failure: FailureClass; readonly message: string }
  /** A line this version does not know. `raw` is cut to a bound. */
  | { readonly type: "other"; readonly name: string; readonly raw: string }

export interface ProcessEnd {
  readonly exitCode: number | null
  readonly signal: string | null
  /** The last few KiB of stderr. */
  readonly stderrTail: string
  /** What the launcher did to the process, if it ended it. A `give-up` it obeyed needs no mention. */
  readonly stopped?: "cancelled" | "timeout"
}

export interface Verdict {
  readonly status: "succeeded" | "failed" | "cancelled"
  /** Present exactly when the status is `failed`. */
  readonly failure?: HarnessFailure
  readonly harnessSessionId?: HarnessSessionId
  /** The last thing the agent said, even on failure. */
  readonly report?: string
  /** Usage of this run alone. Absent if the harness did not report it. */
  readonly usage?: Usage
  /** Usage of the session so far, if the harness reports totals: the `usageBefore` of the next run. */
  readonly sessionUsage?: Usage
  /** Lines of stdout that were not JSON objects, or too long to read. */
  readonly skippedLines: number
}

export interface HarnessFailure {
  readonly class: FailureClass
  /** One sentence for people: no secrets, no control characters, bounded. */
  readonly message: string
  /** A retry may work. */
  readonly transient: boolean
  /** When a limit ends, in milliseconds since 1970, or how long it lasts from now, if the harness said so. */
  readonly resetAtMs?: number
  readonly retryAfterMs?: number
}

export interface SessionLookup {
  readonly id: HarnessSessionId
  readonly environment: Environment
}

export interface SessionSearch {
  readonly cwd: string
  readonly environment: Environment
  /** When the harness started, in milliseconds since 1970. An older session is a different one. */
  readonly startedAtMs: number
  /** Ids known to belong to other chats. */
  readonly taken?: readonly string[]
  readonly binary?: string
  /** Runs a short query of the harness itself. Present only once the session has ended. */
  readonly ask?: (query: QueryPlan) => Promise<string | undefined>
}

/** A short command whose stdout answers a question, with its whole environment. */
export interface QueryPlan {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly environment: Environment
  readonly timeoutMs: number
}
