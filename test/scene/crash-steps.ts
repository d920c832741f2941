/**
 * A process that kills itself (SIGKILL) at one of its steps: each that changes anything outside of it, each start of another
 * process, and its end. With CRASH_AT=n it is the n-th; with CRASH_COUNT=file it is none, and the file says how many there were.
 */
import { EventEmitter } from "node:events"
import { createRequire, syncBuiltinESMExports } from "node:module"

/** Told by these variables of its environment. The step is for places that no function of Node stands for. */
export const installCrash = (env: Readonly<Record<string, string | undefined>>): (() => void) => {
  const crashAt = Number(env["CRASH_AT"] ?? 0)
  const countFile = env["CRASH_COUNT"]
  if (crashAt === 0 && countFile === undefined) return () => undefined
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
    "linkSync",
    "symlinkSync",
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
    if (child instanceof EventEmitter)
      child.prependOnceListener("close", () => {
        if (step()) die()
      })
    return child
  }
  syncBuiltinESMExports()
  if (countFile !== undefined) process.on("exit", () => kept?.(countFile, String(steps)))
  return () => {
    if (step()) die()
  }
}
