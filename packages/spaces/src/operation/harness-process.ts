/**
 * One attempt of a headless run. The harness leads its own process group and gets its prompt on stdin (always
 * closed). Its stdout is kept raw and read into events as it comes, and the adapter judges its end. Always settles:
 * after the harness has ended, we wait only a moment for a process that still holds the pipe.
 */
import { spawn, type ChildProcess } from "node:child_process"
import { closeSync, mkdirSync, writeFileSync, writeSync } from "node:fs"
import { dirname } from "node:path"

import { Failure } from "@meridian/protocol"

import { encodeLine } from "../domain/json-line.ts"
import { LIMIT } from "../domain/limit.ts"
import type { ProcessMark } from "../domain/process-mark.ts"
import { encodeEvent } from "../harness/event-codec.ts"
import { readStream } from "../harness/read-stream.ts"
import type { HarnessEvent, LaunchPlan, StreamParser, Verdict } from "../port/harness.ts"
import { openForAppending } from "../store/open-file.ts"
import { markOf, signalGroup } from "../store/process-table.ts"
import { isoTime } from "./state.ts"
import type { Clock } from "./world.ts"

export interface HarnessProcess {
  readonly plan: LaunchPlan
  readonly harness: string
  readonly environment: Readonly<Record<string, string>>
  /** Descriptors of the locks the harness holds along with us: while it lives, so does the run. */
  readonly locks: readonly number[]
  readonly parser: StreamParser
  readonly files: { readonly output: string; readonly stderr: string; readonly events: string }
  readonly clock: Clock
  readonly killGraceMs: number
  /** Ends the attempt from outside. The adapter and the log get `reason`. */
  readonly stop: StopSource
  readonly onStarted: (process: ProcessMark | undefined) => void
  readonly onEvent: (event: HarnessEvent) => void
}

/** A source that may end an attempt early. `hurry` aborts when even the grace is too long (a second signal). */
export interface StopSource {
  readonly signal: AbortSignal
  readonly hurry: AbortSignal
  readonly reason: () => "cancelled" | "timeout" | undefined
}

export const runHarness = async (options: HarnessProcess): Promise<Verdict> => {
  for (const file of options.plan.files) {
    mkdirSync(dirname(file.path), { recursive: true, mode: 0o700 })
    writeFileSync(file.path, file.content, { mode: 0o600 })
  }
  const output = keptLog(options.files.output, { telling: true })
  const errors = keptLog(options.files.stderr, { telling: true })
  const events = keptLog(options.files.events, { telling: false })
  const reader = readStream(options.parser)
  const tail = lastBytes(LIMIT.stderrTailBytes)
  const gaveUp = new AbortController()
  const take = (event: HarnessEvent): void => {
    events.write(encodeLine(encodeEvent(event, isoTime(options.clock.now()))))
    options.onEvent(event)
    if (event.type === "give-up") gaveUp.abort()
  }
  try {
    const child = startHarness(options)
    const started = once<Error | undefined>((done) => {
      child.once("error", done)
      child.once("spawn", () => done(undefined))
    })
    child.stdout?.on("data", (chunk: Buffer) => {
      output.write(chunk)
      for (const event of reader.feed(chunk)) take(event)
    })
    child.stderr?.on("data", (chunk: Buffer) => {
      errors.write(chunk)
      tail.push(chunk)
    })
    const exited = once<void>((done) => child.once("exit", () => done()))
    const closed = once<void>((done) => child.once("close", () => done()))
    feedPrompt(child, options.plan)
    const problem = await started
    if (problem !== undefined) throw notStarted(problem, options)
    const mark = child.pid === undefined ? undefined : markOf(child.pid)
    options.onStarted(mark)
    await untilEnded({ child, mark, exited, gaveUp: gaveUp.signal, options })
    const drained = new AbortController()
    await Promise.race([
      closed.finally(() => drained.abort()),
      options.clock.sleep(LIMIT.drainMs, drained.signal),
    ])
    child.stdout?.destroy()
    child.stderr?.destroy()
    const stopped = gaveUp.signal.aborted ? undefined : options.stop.reason()
    const end = reader.end({
      exitCode: child.exitCode,
      signal: child.signalCode,
      stderrTail: tail.text(),
      ...(stopped === undefined ? {} : { stopped }),
    })
    for (const event of end.events) take(event)
    return end.verdict
  } finally {
    for (const log of [output, errors, events]) log.close()
  }
}

const startHarness = ({ plan, environment, locks }: HarnessProcess): ChildProcess =>
  spawn(plan.command, plan.args, {
    cwd: plan.cwd,
    env: environment,
    detached: true,
    stdio: ["pipe", "pipe", "pipe", ...locks],
  })

const feedPrompt = (child: ChildProcess, plan: LaunchPlan): void => {
  // A harness may end, or close its input, before it has read the prompt. Its verdict says more than a broken pipe.
  child.stdin?.on("error", () => undefined)
  child.stdin?.end(plan.stdin.kind === "text" ? plan.stdin.text : "")
}

/** Waits for the harness. If asked to stop, it gets its grace and is then killed with everything it started. */
const untilEnded = async (watch: {
  readonly child: ChildProcess
  readonly mark: ProcessMark | undefined
  readonly exited: Promise<void>
  readonly gaveUp: AbortSignal
  readonly options: HarnessProcess
}): Promise<void> => {
  const { options, mark } = watch
  const stop = AbortSignal.any([options.stop.signal, watch.gaveUp])
  await Promise.race([watch.exited, aborted(stop)])
  if (watch.child.exitCode !== null || watch.child.signalCode !== null || mark === undefined)
    return watch.exited
  signalGroup(mark, "SIGTERM")
  const over = new AbortController()
  const grace = AbortSignal.any([over.signal, options.stop.hurry])
  await Promise.race([
    watch.exited.finally(() => over.abort()),
    options.clock.sleep(options.killGraceMs, grace),
  ])
  // Even if the leader obeyed: the processes it started belong to the stopped run.
  signalGroup(mark, "SIGKILL")
  // In a hurry, we do not wait for a process the system does not release.
  return Promise.race([watch.exited, inHurry(options)])
}

const HURRY_MS = 1_000

const inHurry = async ({ stop, clock }: HarnessProcess): Promise<void> => {
  await aborted(stop.hurry)
  await clock.sleep(HURRY_MS)
}

const notStarted = (problem: Error, { plan, harness }: HarnessProcess): Failure =>
  new Failure(
    "HARNESS_NOT_STARTED",
    { harness, reason: problem.message, command: plan.command },
    { cause: problem },
  )

const aborted = (signal: AbortSignal): Promise<void> =>
  once((done) => {
    if (signal.aborted) done()
    else signal.addEventListener("abort", () => done(), { once: true })
  })

const once = <T>(listen: (done: (value: T) => void) => void): Promise<T> =>
  new Promise<T>((resolve) => listen(resolve))

interface KeptLog {
  readonly write: (data: Uint8Array | string) => void
  readonly close: () => void
}

/** Appends until the bound. A last line counts what did not fit, unless every line must be an event. */
const keptLog = (path: string, options: { readonly telling: boolean }): KeptLog => {
  const file = openForAppending(path)
  let kept = 0
  let dropped = 0
  return {
    write: (data) => {
      const bytes = typeof data === "string" ? Buffer.from(data) : data
      if (kept + bytes.length > LIMIT.rawLogBytes) {
        dropped += bytes.length
        return
      }
      kept += bytes.length
      let written = 0
      while (written < bytes.length) written += writeSync(file, bytes, written)
    },
    close: () => {
      if (dropped > 0 && options.telling) writeSync(file, `\n[${dropped} bytes more were not kept]\n`)
      closeSync(file)
    },
  }
}

const lastBytes = (
  limit: number,
): { readonly push: (chunk: Buffer) => void; readonly text: () => string } => {
  let held = Buffer.alloc(0)
  return {
    push: (chunk) => {
      held = Buffer.concat([held, chunk]).subarray(-limit)
    },
    text: () => held.toString("utf8"),
  }
}
