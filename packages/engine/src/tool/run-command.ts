/**
 * One shell command from start to end. It has its own session, no input, and both outputs in one real pipe (that is what
 * `cat` is for; with Node's own sockets `echo x > /dev/stderr` fails). Memory is bounded, and the whole text is in a file.
 * It ends when the shell ends, when time is up or when it is told to, never later because another process keeps the pipe
 * open.
 */
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { Writable, type Readable } from "node:stream"

import { pause } from "../port/machine-time.ts"
import { ToolError } from "../port/tool.ts"
import { errorLine } from "./describe-error.ts"
import { endProcesses } from "./end-processes.ts"
import { TOOL_LIMITS } from "./limits.ts"
import type { ProcessGuard } from "./process-guard.ts"
import { asEnvironment } from "./process-mark.ts"
import { findProcesses, groupExists, sendSignal, type ProcessRow } from "./process-table.ts"
import type { Spool, Spooled } from "./spool.ts"

export interface CommandRequest {
  /** The shell with its command, or the words that start them in a sandbox. */
  readonly argv: readonly string[]
  readonly directory: string
  readonly environment: { readonly [name: string]: string | undefined }
  /** Identifies this call among all processes. Set on the command and inherited. */
  readonly callMark: string
  readonly otherMarks: readonly string[]
  readonly guard: ProcessGuard
  readonly spool: Spool
  readonly timeoutMs: number
  readonly graceMs: number
  readonly signal: AbortSignal
}

export type CommandEnd =
  /** `exit` is undefined when the shell was killed from outside. */
  | { readonly type: "exited"; readonly exit: number | undefined; readonly background: readonly number[] }
  | { readonly type: "timeout" }
  | { readonly type: "interrupted" }

export interface CommandResult {
  readonly end: CommandEnd
  readonly output: Spooled
}

/**
 * $0 is the control group, or "-" without one; the rest is the command to start. The exit code goes to descriptor 3, so
 * that it is known while other processes hold the pipe. `cat` ignores polite signals: it passes on a command's last words
 * until the command itself is gone.
 *
 * The command waits for a word on descriptor 4. An engine that is killed while it starts a shell would leave one that
 * nobody can find yet (a fork that has not become the shell carries no mark). Such a shell sees the end of the pipe and
 * does nothing.
 */
const WRAPPER = `read -r go <&4 || exit; exec 4<&-
[ "$0" = - ] || echo $$ > "$0/cgroup.procs"
{ "$@" 2>&1 3>&-; echo "$?" >&3; } |
{ trap '' TERM INT HUP; PATH=$PATH:/usr/bin:/bin; exec cat 3>&-; }`

export const runCommand = async (request: CommandRequest): Promise<CommandResult> => {
  await request.guard.ready()
  const child = spawn("/bin/sh", ["-c", WRAPPER, request.guard.controlGroup() ?? "-", ...request.argv], {
    cwd: request.directory,
    detached: true,
    env: {
      ...request.environment,
      ...asEnvironment([request.callMark, request.guard.mark, ...request.otherMarks]),
    },
    stdio: ["ignore", "pipe", "ignore", "pipe", "pipe"],
  })
  const group = await started(child)
  const forget = request.guard.watch(group)
  sayGo(child.stdio[4])
  const output = pump(child.stdout, request.spool)
  const status = readStatus(child.stdio[3])
  try {
    const outcome = await firstOf(status, request)
    if (outcome.type !== "exited") await endAll(request, group)
    await settled(output, child)
    const background = outcome.type === "exited" ? await stillRunning(request, group) : []
    const spooled = await output.stop(outcome.type === "exited" ? Infinity : TOOL_LIMITS.bashErrorCharacters)
    return { end: outcome.type === "exited" ? { ...outcome, background } : outcome, output: spooled }
  } finally {
    forget()
    child.unref()
  }
}

/** From here on the guard and the next engine know the shell by its group and its marks. */
const sayGo = (pipe: ChildProcess["stdio"][4]): void => {
  if (!(pipe instanceof Writable)) throw new ToolError("failed", "The shell could not be started.")
  // If the shell is already gone, its status gives the reason.
  pipe.on("error", () => undefined)
  pipe.end("go\n")
}

const started = async (child: ChildProcess): Promise<number> => {
  try {
    await once(child, "spawn")
  } catch (error) {
    throw new ToolError("failed", `The shell could not be started: ${errorLine(error)}`, { cause: error })
  }
  if (child.pid === undefined) throw new ToolError("failed", "The shell could not be started.")
  return child.pid
}

type FirstEnd =
  | { readonly type: "exited"; readonly exit: number | undefined }
  | { readonly type: "timeout" }
  | { readonly type: "interrupted" }

const firstOf = async (status: Promise<number | undefined>, request: CommandRequest): Promise<FirstEnd> => {
  const done = new AbortController()
  const { promise: aborted, resolve: abort } = Promise.withResolvers<FirstEnd>()
  const onAbort = (): void => abort({ type: "interrupted" })
  request.signal.addEventListener("abort", onAbort)
  if (request.signal.aborted) onAbort()
  const time = pause<FirstEnd>(request.timeoutMs, { type: "timeout" }, { signal: done.signal })
  try {
    return await Promise.race([status.then((exit): FirstEnd => ({ type: "exited", exit })), time, aborted])
  } finally {
    time.catch(() => undefined)
    done.abort()
    request.signal.removeEventListener("abort", onAbort)
  }
}

/** The group, and processes that left it but still carry the call's mark. */
const findCall = (request: CommandRequest, group: number): Promise<readonly ProcessRow[]> =>
  findProcesses(
    async (row, environment) => row.group === group || (await environment()).has(request.callMark),
  )

const endAll = async (request: CommandRequest, group: number): Promise<void> => {
  await endProcesses({
    // Signals the whole group at once, so that no new process is missed; those that left it one by one.
    ask: (alive) => {
      sendSignal(-group, "SIGTERM")
      for (const row of alive) if (row.group !== group) sendSignal(row.pid, "SIGTERM")
    },
    graceMs: request.graceMs,
    waitMs: TOOL_LIMITS.leftoversMs,
    find: async () => {
      const found = await findCall(request, group)
      if (found.length > 0 || process.platform === "linux") return found
      return groupExists(group) ? [{ pid: -group, group, zombie: false }] : []
    },
  })
}

const stillRunning = async (request: CommandRequest, group: number): Promise<readonly number[]> => {
  if (!groupExists(group)) return []
  const rows = await findCall(request, group)
  return rows.map(({ pid }) => pid).sort((a, b) => a - b)
}

interface Pump {
  readonly ended: Promise<void>
  readonly count: () => number
  /** After this, further output is read and discarded, so that a background process is not blocked. */
  readonly stop: (keepAbove: number) => Promise<Spooled>
}

const pump = (stream: Readable | null, spool: Spool): Pump => {
  let pieces = 0
  let stopped = false
  let pushing = Promise.resolve()
  const run = async (): Promise<void> => {
    for await (const piece of stream ?? []) {
      pieces++
      if (stopped || !Buffer.isBuffer(piece)) continue
      pushing = spool.push(piece)
      await pushing
    }
  }
  const ended = run().catch(() => undefined)
  return {
    ended,
    count: () => pieces,
    stop: async (keepAbove) => {
      stopped = true
      await pushing
      if (stream !== null && "unref" in stream && typeof stream.unref === "function") stream.unref()
      return spool.finish({ keepAbove })
    },
  }
}

const SETTLE_ROUNDS = 10

/** Waits until the output has ended, or another process holds it open and is quiet. */
const settled = async (output: Pump, child: ChildProcess): Promise<void> => {
  const exited = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined
  const ended = output.ended.then(async () => {
    await exited
    return "ended" as const
  })
  // A background process that keeps writing is not waited for either.
  for (let before = -1, rounds = 0; before !== output.count() && rounds < SETTLE_ROUNDS; rounds++) {
    before = output.count()
    const quiet = new AbortController()
    const silence = pause(TOOL_LIMITS.bashQuietMs, "quiet" as const, { signal: quiet.signal })
    const first = await Promise.race([ended, silence])
    silence.catch(() => undefined)
    quiet.abort()
    if (first === "ended") return
  }
}

const readStatus = async (stream: unknown): Promise<number | undefined> => {
  if (typeof stream !== "object" || stream === null || !(Symbol.asyncIterator in stream)) return undefined
  let text = ""
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- descriptor 3 was asked to be a pipe
    for await (const piece of stream as Readable) {
      text += String(piece)
      if (text.includes("\n")) break
    }
  } catch {
    // A broken pipe has no status.
  }
  return /^[0-9]+\n/.test(text) ? Number.parseInt(text, 10) : undefined
}
