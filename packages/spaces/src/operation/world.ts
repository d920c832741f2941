/**
 * Everything an operation may touch besides the file system and child processes. The command, the MCP server and tests
 * each bring their own; an operation never reaches for `process`.
 */
import type { Facts, SpaceId } from "@meridian/protocol"

import type { WarningCode } from "../domain/warning.ts"
import type { HarnessEntry } from "../harness/registry.ts"
import type { LaunchContinuity } from "../port/harness.ts"
import type { HostCheck, KnownHarness } from "./host-check.ts"

export type SignalName = "SIGINT" | "SIGTERM" | "SIGHUP"

export interface World {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute. */
  readonly cwd: string
  readonly clock: Clock
  /** A random version 4 UUID. */
  readonly uuid: () => string
  /** `agent` when MERIDIAN_SPACE_ID is set (and always over MCP). */
  readonly mode: "human" | "agent"
  /** How the answer travels. Over MCP nothing may be written to stdout and nobody can be asked. */
  readonly face: "command" | "tool"
  /** Which of the three streams are terminals. */
  readonly terminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean }
  /** Lines for the reader while the operation runs; the result itself is returned, not written. */
  readonly stderr: { readonly write: (text: string) => void }
  /** Lines that change while work goes on, on the terminal of a person; [] takes them away. Absent where nobody watches. */
  readonly openLive?: (() => Promise<(lines: readonly string[]) => void>) | undefined
  /** Text of a long answer as it comes, on stdout. Absent where only the document travels. */
  readonly print?: (text: string) => void
  /** Once per code and facts; stderr of the command, `warning` of the tool. */
  readonly warn: (code: WarningCode, facts?: Facts) => void
  /** A sign of life of long work; MCP turns it into a progress notification. */
  readonly progress: (message: string) => void
  /** Aborts on the first SIGINT, SIGTERM or SIGHUP (reason: `Interrupted`) and on MCP cancellation. */
  readonly signal: AbortSignal
  /** Called for every signal, the first one too: what forwards to a child. Returns how to stop listening. */
  readonly onSignal: (listener: (signal: SignalName) => void) => () => void
  /** A question on the terminal. False without asking when there is no terminal; true at once with --yes. */
  readonly confirm: (question: string) => Promise<boolean>
  /** One of several on the terminal: its place, undefined when none is taken. Absent where nobody can be asked. */
  readonly choose?:
    | ((question: string, choices: readonly string[]) => Promise<number | undefined>)
    | undefined
  /** Whether the engine of this project holds a session. Only the command knows the engine. */
  readonly holdsSession?: (id: string) => Promise<boolean>
  /** Whether the reader asked for JSON (or gets it by mode): a launched harness then keeps off stdout. */
  readonly json: boolean
  /** `--config PATH`, which goes before MERIDIAN_CONFIG. */
  readonly configPath: string | undefined
  /** Command and first arguments that start this program again (the background worker). */
  readonly program: readonly [command: string, ...args: readonly string[]]
  /** The command that a line of words means. Throws as that command would. Absent where nobody types commands. */
  readonly readCommand?: (words: readonly string[]) => Promise<TypedCommand>
  /** What only the command knows: whether facts survive a compaction in the harnesses of others. */
  readonly checkHosts?: (harnesses: readonly KnownHarness[]) => Promise<readonly HostCheck[]>
  /** What is wrong with the engine's database of this project, in words. Changes nothing. */
  readonly checkEngine?: () => Promise<readonly string[]>
  /** What can be read of it, in a new file. Throws EXPORT_FILE_EXISTS, DATABASE_DAMAGED when there is nothing. */
  readonly salvageEngine?: (file: string) => Promise<SalvagedEngine>
  /** Sessions of this project's engine that worked below one folder work below another now. Tells how many. */
  readonly moveSessions?: (from: string, to: string) => Promise<number>
  /** What a launch brings along so that facts survive a compaction; undefined where that is set up already. Never rejects. */
  readonly continuity?: (launch: {
    readonly harness: string
    readonly cwd: string
    readonly env: World["env"]
  }) => Promise<LaunchContinuity | undefined>
  /** What was done in these conversations, oldest first, for whoever carries their task on: state, calls, last words, git. Never rejects. */
  readonly handover?: (query: {
    readonly sessions: readonly { readonly harness: string; readonly id: string }[]
    readonly cwd: string
    readonly task: string
    readonly env: World["env"]
  }) => Promise<string>
  /** The space of this connection, which the first one that needs it makes. Absent where every command speaks for itself. */
  readonly ownSpace?: (make: () => Promise<SpaceId>) => Promise<SpaceId>
  /** What waits in an engine database, in words; undefined when nothing does. Only the command knows the engine. */
  readonly pendingWork?: (database: string) => Promise<string | undefined>
  /** Instead of the harnesses spaces knows by itself: the command adds `direct`. */
  readonly harnesses?: readonly HarnessEntry[]
}

/** What was saved of a damaged database, counted. */
export interface SalvagedEngine {
  readonly from: string
  readonly file: string
  readonly sessions: number
  /** Those that lack nothing. */
  readonly whole: number
  readonly events: number
  readonly lost: number
  /** Sessions that end before their hole. */
  readonly cut: readonly string[]
  /** A file with what stood behind a hole. */
  readonly rest?: string
}

export interface TypedCommand {
  /** `run.spawn`. */
  readonly name: string
  /** The words behind its name, and what they say by wire name. */
  readonly rest: readonly string[]
  readonly values: Readonly<Record<string, unknown>>
}

export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Resolves after the time, or at once when the signal aborts; never rejects. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

/** Why `World.signal` aborted. Rethrown by the caller's edge it gives exit code 130 or 143. */
export class Interrupted extends Error {
  override readonly name = "Interrupted"
  readonly signal: SignalName | "cancelled"

  constructor(signal: SignalName | "cancelled") {
    super(`Stopped by ${signal}`)
    this.signal = signal
  }
}
