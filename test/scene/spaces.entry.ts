/**
 * Runs one operation of spaces as a process: `spaces.entry.ts <operation> <values as JSON>`, or `run worker LOG`. Prints its
 * document. With CRASH_AT=n the process kills itself (SIGKILL) at its n-th step that changes anything outside of it; with
 * CRASH_COUNT=file it writes how many such steps there were.
 */
import { createRequire, syncBuiltinESMExports } from "node:module"

import { openSignals, callOperation } from "./spaces.ts"

// oxlint-disable-next-line node/no-process-env -- a program of its own: this is where its environment comes in
const { env } = process
const [name = "", second = "{}", third = ""] = process.argv.slice(2)
const isWorker = name === "run" && second === "worker"

if ((env["CRASH_IN"] ?? "main") === (isWorker ? "worker" : "main")) installCrash()

const signals = openSignals()
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => signals.send(signal))

try {
  const values: unknown = isWorker ? { log: third } : JSON.parse(second)
  const answer = await callOperation({
    name: isWorker ? "run.worker" : name,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- decodeInput checks it
    values: values as Readonly<Record<string, unknown>>,
    world: {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an environment has no undefined values in practice
      env: env as Readonly<Record<string, string>>,
      cwd: process.cwd(),
      program: [process.execPath, ...process.execArgv, process.argv[1] ?? ""],
    },
    options: { signals },
  })
  process.stdout.write(`${JSON.stringify(answer.document)}\n`)
  process.exitCode = answer.exitCode
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = 99
}

function installCrash(): void {
  const crashAt = Number(env["CRASH_AT"] ?? 0)
  const countFile = env["CRASH_COUNT"]
  if (crashAt === 0 && countFile === undefined) return
  const require = createRequire(import.meta.url)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- patched by name: any function of any shape
  const fs = require("node:fs") as Record<string, (...args: unknown[]) => unknown>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  const processes = require("node:child_process") as Record<string, (...args: unknown[]) => unknown>
  const kept = fs["writeFileSync"]
  let steps = 0
  const step = (): boolean => {
    steps += 1
    return steps === crashAt
  }
  const die = (): never => {
    process.kill(process.pid, "SIGKILL")
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
  }
  const before = (module: typeof fs, names: readonly string[]): void => {
    for (const key of names) {
      const original = module[key]
      if (original === undefined) continue
      module[key] = (...args) => {
        if (step()) die()
        return original(...args)
      }
    }
  }
  before(fs, [
    "mkdirSync",
    "writeFileSync",
    "appendFileSync",
    "renameSync",
    "unlinkSync",
    "rmSync",
    "fsyncSync",
    "ftruncateSync",
  ])
  const write = fs["writeSync"]
  fs["writeSync"] = (...args) => {
    if (step()) die()
    const [file, data, offset] = args
    // Half of what was to be written: the torn tail of a crash.
    if (step() && Buffer.isBuffer(data)) {
      write?.(file, data, offset ?? 0, Math.floor(data.length / 2))
      die()
    }
    return write?.(...args)
  }
  const spawn = processes["spawn"]
  processes["spawn"] = (...args) => {
    if (step()) die()
    const child = spawn?.(...args)
    if (step()) die()
    return child
  }
  syncBuiltinESMExports()
  if (countFile !== undefined) process.on("exit", () => kept?.(countFile, String(steps)))
}
