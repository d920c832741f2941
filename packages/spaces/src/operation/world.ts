/**
 * Everything an operation may touch besides the file system and child processes. The command, the MCP server and
 * tests each provide their own. An operation never reaches for `process`.
 */
import type { Facts, SpaceId } from "@meridian/protocol"

import type { NamedThings } from "../domain/prompt-text.ts"
import type { PermissionTier } from "../domain/tier.ts"
import type { WarningCode } from "../domain/warning.ts"
import type { HarnessEntry } from "../harness/registry.ts"
import type { BuiltInHarness, LaunchContinuity } from "../port/harness.ts"
import type { HostCheck, KnownHarness } from "./host-check.ts"

export type SignalName = "SIGINT" | "SIGTERM" | "SIGHUP"

export interface FoundSession {
  readonly harness: BuiltInHarness
  readonly id: string
  /** The folder it was held in, where it must continue. */
  readonly directory?: string
}

export interface World {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute. */
  readonly cwd: string
  readonly clock: Clock
  /** A random version 4 UUID. */
  readonly uuid: () => string
  /** `agent` when MERIDIAN_SPACE_ID is set (and always over MCP). */
  readonly mode: "human" | "agent"
  /** How the answer travels. Over MCP nothing may be written to stdout, and no question can be asked. */
  readonly face: "command" | "tool"
  /** Which of the three streams are terminals. */
  readonly terminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean }
  /** Lines for the reader while the operation runs. The result itself is returned, not written. */
  readonly stderr: { readonly write: (text: string) => void }
  /** Live lines on a person's terminal; [] removes them. Absent if there is no terminal. */
  readonly openLive?: (() => Promise<(lines: readonly string[]) => void>) | undefined
  /** Prints text of a long answer to stdout as it comes. Absent if only the document travels. */
  readonly print?: (text: string) => void
  /** Reported once per code and facts, on stderr of the command or in `warning` of the tool. */
  readonly warn: (code: WarningCode, facts?: Facts) => void
  /** A sign of life during long work. MCP turns it into a progress notification. */
  readonly progress: (message: string) => void
  /** Aborts on the first SIGINT, SIGTERM or SIGHUP (reason: `Interrupted`) and on MCP cancellation. */
  readonly signal: AbortSignal
  /**
   * Called for every signal, including the first, so that it can be forwarded to a child. Returns a function that
   * stops listening.
   */
  readonly onSignal: (listener: (signal: SignalName) => void) => () => void
  /** A question on the terminal. False without a terminal; true at once with --yes. */
  readonly confirm: (question: string) => Promise<boolean>
  /** A choice on the terminal. Returns the index, or undefined if none is taken. Absent if no question can be asked. */
  readonly choose?:
    | ((question: string, choices: readonly string[]) => Promise<number | undefined>)
    | undefined
  /**
   * A session kept here: of this project's engine, or of another harness by its name in search (`claude:ID`). Throws
   * if it exists but none of our harnesses can continue it. Only the command knows the engine and the sessions of
   * others.
   */
  readonly findSession?: (name: string) => Promise<FoundSession | undefined>
  /** Whether the caller wants JSON (or gets it by mode): a launched harness then keeps off stdout. */
  readonly json: boolean
  /** `--config PATH`, which takes precedence over MERIDIAN_CONFIG. */
  readonly configPath: string | undefined
  /** Command and first arguments that start this program again (the background worker). */
  readonly program: readonly [command: string, ...args: readonly string[]]
  /** The command that a line of words means. Throws as that command would. Absent if no commands can be typed. */
  readonly readCommand?: (words: readonly string[]) => Promise<TypedCommand>
  /** Whether facts survive a compaction in other vendors' harnesses. Only the command knows. */
  readonly checkHosts?: (harnesses: readonly KnownHarness[]) => Promise<readonly HostCheck[]>
  /** Problems of this project's engine database, in words. Changes nothing. */
  readonly checkEngine?: () => Promise<readonly string[]>
  /**
   * Writes the readable part of the database into a new file. Throws EXPORT_FILE_EXISTS, and DATABASE_DAMAGED if
   * nothing can be read.
   */
  readonly salvageEngine?: (file: string) => Promise<SalvagedEngine>
  /** Moves the engine's sessions below one folder to another. Returns how many. */
  readonly moveSessions?: (from: string, to: string) => Promise<number>
  /** What a launch adds so that facts survive a compaction. Undefined if that is already set up. Never rejects. */
  readonly continuity?: (launch: {
    readonly harness: string
    readonly cwd: string
    readonly env: World["env"]
    /** Also tells the words that are sent to the run while it works. */
    readonly isRun?: boolean
  }) => Promise<LaunchContinuity | undefined>
  /**
   * What was done in these conversations, oldest first, for a harness that takes over their task: state, calls, last
   * words, git. Never rejects.
   */
  readonly handover?: (query: {
    readonly sessions: readonly { readonly harness: string; readonly id: string }[]
    readonly cwd: string
    readonly task: string
    readonly env: World["env"]
  }) => Promise<string>
  /** The space of this connection. The first call that needs it makes it. Absent if every command names its own. */
  readonly ownSpace?: (make: () => Promise<SpaceId>) => Promise<SpaceId>
  /** The pending work in an engine database, in words. Undefined if there is none. Only the command knows the engine. */
  readonly pendingWork?: (database: string) => Promise<string | undefined>
  /**
   * Looks up what a prompt names, as the engine does, for harnesses that do not. Undefined if it names nothing. Only the
   * command knows the engine.
   */
  readonly lookUpNames?: (asked: NamesAsked) => Promise<NamedThings | undefined>
  /** Replaces the harnesses spaces knows: the command adds `direct`. */
  readonly harnesses?: readonly HarnessEntry[]
}

export interface NamesAsked {
  readonly text: string
  /** Where the run works. */
  readonly directory: string
  readonly permission: PermissionTier | undefined
  /** The profile of the run. */
  readonly agent: string | undefined
}

/** What was saved from a damaged database, counted. */
export interface SalvagedEngine {
  readonly from: string
  readonly file: string
  readonly sessions: number
  /** Sessions that lack nothing. */
  readonly whole: number
  readonly events: number
  readonly lost: number
  /** Sessions that end before their hole. */
  readonly cut: readonly string[]
  /** A file with what came after a hole. */
  readonly rest?: string
}

export interface TypedCommand {
  /** `run.spawn`. */
  readonly name: string
  /** The words after its name, and their values by wire name. */
  readonly rest: readonly string[]
  readonly values: Readonly<Record<string, unknown>>
}

export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Resolves after the time, or at once when the signal aborts; never rejects. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

/** Why `World.signal` aborted. If rethrown, the caller's edge turns it into exit code 130 or 143. */
export class Interrupted extends Error {
  override readonly name = "Interrupted"
  readonly signal: SignalName | "cancelled"

  constructor(signal: SignalName | "cancelled") {
    super(`Stopped by ${signal}`)
    this.signal = signal
  }
}
