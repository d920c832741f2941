/**
 * A command line of the user's that runs for a run: the setup of its worktree, or a check. It leads its own process
 * group, has a time limit, cannot ask anyone, and leaves nothing behind: everything it started ends with it, even
 * outside its group. Its output is kept on disk up to a bound; the end of a longer output is kept too.
 */
import { spawn, type ChildProcess } from "node:child_process"
import { closeSync, writeSync } from "node:fs"

import { LIMIT } from "../domain/limit.ts"
import type { ProcessMark } from "../domain/process-mark.ts"
import { openForAppending } from "../store/open-file.ts"
import { markOf, processesWith, signalGroup, signalProcess } from "../store/process-table.ts"
import type { Clock } from "./world.ts"

export interface ProgramWish {
  /** For `sh -c`. */
  readonly command: string
  /** The same command wrapped in a sandbox, which runs instead. */
  readonly argv?: readonly string[] | undefined
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The file for everything it prints, both streams in order of arrival. */
  readonly log: string
  readonly limitMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly uuid: () => string
}

export interface ProgramEnd {
  readonly why: "ended" | "timeout" | "stopped" | "not-started"
  /** 128 plus the signal's number if a signal ended it. Undefined if it did not end on its own. */
  readonly exitCode: number | undefined
  readonly durationMs: number
  /** The last part of its output. */
  readonly tail: string
  /** How much of the output was not kept. */
  readonly dropped: number
}

/** Never rejects for anything the command does. */
export const runProgram = async (wish: ProgramWish): Promise<ProgramEnd> => {
  const output = openOutput(wish.log)
  const began = wish.clock.now()
  const mark = wish.uuid()
  const [program = "", ...args] = wish.argv ?? ["/bin/sh", "-c", wish.command]
  const child = spawn(program, args, {
    cwd: wish.cwd,
    env: { ...wish.env, [PROGRAM_MARK]: mark },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  })
  const leader = child.pid === undefined ? undefined : markOf(child.pid)
  child.stdout.on("data", output.push)
  child.stderr.on("data", output.push)
  const exited = new Promise<"ended" | "not-started">((done) => {
    child.once("exit", () => done("ended"))
    child.once("error", () => done("not-started"))
  })
  const closed = new Promise<void>((done) => child.once("close", () => done()))
  const over = new AbortController()
  const stop = AbortSignal.any([over.signal, wish.signal])
  const why = await Promise.race([
    exited,
    wish.clock
      .sleep(wish.limitMs, stop)
      .then((): "stopped" | "timeout" => (wish.signal.aborted ? "stopped" : "timeout")),
  ])
  over.abort()
  endEverything(leader, mark)
  if (why !== "not-started") {
    await exited
    const drained = new AbortController()
    await Promise.race([
      closed.finally(() => drained.abort()),
      wish.clock.sleep(LIMIT.drainMs, drained.signal),
    ])
  }
  child.stdout.destroy()
  child.stderr.destroy()
  output.close()
  return {
    why,
    exitCode: why === "ended" ? exitCodeOf(child) : undefined,
    durationMs: wish.clock.now() - began,
    tail: output.tail(),
    dropped: output.dropped(),
  }
}

/** In the environment of everything it starts. */
const PROGRAM_MARK = "MERIDIAN_PROGRAM_MARK"

/** Processes that fork while being killed are found in the next round. */
const MOST_ROUNDS = 50

const endEverything = (leader: ProcessMark | undefined, mark: string): void => {
  if (leader !== undefined) signalGroup(leader, "SIGKILL")
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const left = processesWith(PROGRAM_MARK, mark)
    if (left.length === 0) return
    for (const pid of left) signalProcess(pid, "SIGKILL")
  }
}

const SIGNAL_NUMBERS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
}

const exitCodeOf = ({ exitCode, signalCode }: ChildProcess): number =>
  exitCode ?? 128 + (SIGNAL_NUMBERS[signalCode ?? ""] ?? 0)

const openOutput = (path: string) => {
  const file = openForAppending(path)
  let written = 0
  let dropped = 0
  let tail = Buffer.alloc(0)
  const write = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
  }
  return {
    push: (chunk: Buffer): void => {
      tail = Buffer.concat([tail, chunk]).subarray(-LIMIT.toldOutputBytes)
      const room = Math.max(0, LIMIT.outputBytes - written)
      write(chunk.subarray(0, room))
      written += Math.min(chunk.length, room)
      dropped += Math.max(0, chunk.length - room)
    },
    close: (): void => {
      if (dropped > 0) {
        write(Buffer.from(`\n[${dropped} bytes more were not kept; these are the last of them]\n`))
        write(tail)
      }
      closeSync(file)
    },
    tail: (): string => tail.toString("utf8"),
    dropped: (): number => dropped,
  }
}
