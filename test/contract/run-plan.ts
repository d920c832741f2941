/** The smallest launcher: a plan, a parser, a process. The real one is in spaces; here adapters are tested without it. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"

import type { Harness, HarnessEvent, LaunchRequest, ParserOptions, Verdict } from "@meridian/spaces"
import { readStream } from "@meridian/spaces"

export interface PlannedRun {
  readonly events: readonly HarnessEvent[]
  readonly verdict: Verdict
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stderr: string
}

export interface RunPlanOptions {
  readonly harness: Harness
  readonly request: LaunchRequest
  readonly parserOptions?: ParserOptions
  /** Called for every event, with a way to end the process. */
  readonly onEvent?: (event: HarnessEvent, kill: (signal: NodeJS.Signals) => void) => void
  readonly stopped?: "cancelled" | "timeout"
}

export const runPlan = async (options: RunPlanOptions): Promise<PlannedRun> => {
  const { harness, request } = options
  const plan = harness.launch(request)
  for (const file of plan.files) {
    mkdirSync(dirname(file.path), { recursive: true })
    writeFileSync(file.path, file.content, { mode: 0o600 })
  }
  const laid = Object.entries({ ...request.environment, ...plan.environment })
  const env = Object.fromEntries(laid.filter((entry): entry is [string, string] => entry[1] !== undefined))
  const child = spawn(plan.command, plan.args, { cwd: plan.cwd, env, stdio: ["pipe", "pipe", "pipe"] })
  const reader = readStream(harness.parser(options.parserOptions))
  const events: HarnessEvent[] = []
  let stderr = ""
  const kill = (signal: NodeJS.Signals): void => {
    child.kill(signal)
  }
  const take = (fresh: readonly HarnessEvent[]): void => {
    for (const event of fresh) {
      events.push(event)
      if (event.type === "give-up") kill("SIGTERM")
      options.onEvent?.(event, kill)
    }
  }
  child.stdout.on("data", (chunk: Buffer) => take(reader.feed(chunk)))
  child.stderr.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString("utf8")).slice(-8192)
  })
  // A harness that ends without reading its prompt breaks this pipe. Its verdict reports that.
  child.stdin.on("error", () => undefined)
  child.stdin.end(plan.stdin.kind === "text" ? plan.stdin.text : "")
  await once(child, "close")
  const { exitCode, signalCode: signal } = child
  const stopped = options.stopped === undefined ? {} : { stopped: options.stopped }
  const last = reader.end({ exitCode, signal, stderrTail: stderr, ...stopped })
  take(last.events)
  return { events, verdict: last.verdict, exitCode, signal, stderr }
}
