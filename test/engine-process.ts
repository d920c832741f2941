/** Starts `engine-process.entry.ts` as a separate process and reads what it prints. */
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"

export interface EngineProcess {
  readonly child: ChildProcess
  /** Every line so far. */
  readonly lines: readonly string[]
  /** Resolves when this many lines begin with `start`. Rejects when the process ends first. */
  readonly said: (start: string, times?: number) => Promise<string>
  readonly exited: Promise<unknown>
  readonly kill: () => Promise<void>
}

export const startEngineProcess = (options: {
  readonly database: string
  readonly directory: string
  readonly mode: string
  readonly leaseMs?: number
}): EngineProcess => {
  const child = spawn(
    process.execPath,
    [
      "--conditions=meridian-source",
      join(import.meta.dirname, "crash/engine-process.entry.ts"),
      options.database,
      options.directory,
      options.mode,
      String(options.leaseMs ?? 8_000),
    ],
    { stdio: ["pipe", "pipe", "pipe"] },
  )
  const lines: string[] = []
  let errors = ""
  child.stderr.on("data", (data) => {
    errors += String(data)
  })
  child.stdin.on("error", () => undefined)
  const waiting = new Set<() => void>()
  const look = (): void => {
    for (const wake of waiting) wake()
  }
  let over = false
  const reader = createInterface({ input: child.stdout })
  reader.on("line", (line) => {
    lines.push(line)
    look()
  })
  child.once("close", () => {
    over = true
    look()
  })
  const exited = once(child, "close")
  return {
    child,
    lines,
    exited,
    said: (start, times = 1) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = lines.filter((line) => line.startsWith(start))[times - 1]
          if (found === undefined && !over) return
          waiting.delete(check)
          if (found === undefined) reject(new Error(`ended before it said ${start}: ${errors}`))
          else resolve(found)
        }
        waiting.add(check)
        check()
      }),
    kill: async () => {
      child.kill("SIGKILL")
      await exited
    },
  }
}
