/**
 * flock(2), which Node does not have. A lock belongs to the open file, not to the process that asked for it. We open
 * the file and hand it to `flock -n 3` as descriptor 3. When that has ended, the lock is ours until we close the file
 * or die. A shell's `flock -n <file> true` agrees with us, and `kill -9` frees what we hold. The file is
 * close-on-exec, so no child inherits a lock by accident. A harness gets the lock of its chat or run, so that it
 * stays held while the harness lives. Without flock(1) (macOS), perl does the same.
 */
import { spawn } from "node:child_process"
import { closeSync, fstatSync, mkdirSync, statSync, unlinkSync } from "node:fs"
import { dirname } from "node:path"

import { Failure } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"
import { openForLocking } from "./open-file.ts"

export interface HeldLock {
  readonly path: string
  /** The open file. A child that gets it holds the lock too, for as long as it lives. */
  readonly descriptor: number
  /** Frees the lock. A liveness lock is also removed while still held, so that no other process can be inside. */
  readonly release: (options?: { readonly remove?: boolean }) => void
}

/** Undefined if another process holds it for longer than `waitMs` (0: asks once). Creates the file. */
export const acquireLock = async (
  path: string,
  options: { readonly waitMs: number },
): Promise<HeldLock | undefined> => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  for (;;) {
    const file = openForLocking(path)
    const held = await lockFile(file, path, options.waitMs).catch((error: unknown) => {
      closeSync(file)
      throw error
    })
    if (!held) {
      closeSync(file)
      return undefined
    }
    if (isStill(file, path)) return holding(file, path)
    // The file was removed between open and lock: our lock guards nothing any more.
    closeSync(file)
  }
}

/** One critical section. After too long a wait, the error says which process to look for. */
export const withLock = async <T>(path: string, body: () => T | Promise<T>): Promise<T> => {
  const lock = await acquireLock(path, { waitMs: LIMIT.appendWaitMs })
  if (lock === undefined)
    throw new Failure("LOCK_TIMEOUT", { file: path, seconds: LIMIT.appendWaitMs / 1000 })
  try {
    return await body()
  } finally {
    lock.release()
  }
}

const holding = (file: number, path: string): HeldLock => {
  let open = true
  return {
    path,
    descriptor: file,
    release: (options) => {
      if (!open) return
      open = false
      if (options?.remove === true && isStill(file, path)) unlinkSync(path)
      closeSync(file)
    },
  }
}

const isStill = (file: number, path: string): boolean => {
  const there = statSync(path, { throwIfNoEntry: false })
  const ours = fstatSync(file)
  return there !== undefined && there.ino === ours.ino && there.dev === ours.dev
}

const lockFile = async (file: number, path: string, waitMs: number): Promise<boolean> => {
  for (const [command, ...args] of waitMs > 0 ? BLOCKING : ASKING) {
    for (let round = 1; ; round += 1) {
      const code = await runHelper({ command, args, file, waitMs })
      if (code === "missing") break
      // Someone killed the helper, as in a shutdown. That says nothing about the lock.
      if (code === "ended" && round < MOST_ROUNDS) continue
      return code === 0
    }
  }
  throw new Failure("LOCK_UNAVAILABLE", { file: path })
}

const MOST_ROUNDS = 5

/** Exit 0: locked. Another code: held by another process, or we gave up waiting (then we killed the helper). */
const runHelper = (options: {
  readonly command: string
  readonly args: readonly string[]
  readonly file: number
  readonly waitMs: number
}): Promise<number | "missing" | "ended"> =>
  new Promise((resolve) => {
    const child = spawn(options.command, options.args, {
      stdio: ["ignore", "ignore", "ignore", options.file],
      // Out of reach of the terminal: a Ctrl-C must not look like a lock held elsewhere.
      detached: true,
      // Node's own timer for a child. It ends a helper that waits longer than we want to.
      ...(options.waitMs > 0 ? { timeout: options.waitMs, killSignal: "SIGKILL" as const } : {}),
    })
    child.once("error", () => resolve("missing"))
    child.once("exit", (code) => resolve(code ?? (child.killed ? 1 : "ended")))
  })

type Helper = readonly [command: string, ...args: readonly string[]]

const perl = (flags: number): Helper => [
  "perl",
  "-e",
  `open(my $f, ">>&=", 3) or exit 2; exit(flock($f, ${flags}) ? 0 : 1)`,
]

const ASKING: readonly Helper[] = [["flock", "-x", "-n", "3"], perl(6)]
const BLOCKING: readonly Helper[] = [["flock", "-x", "3"], perl(2)]
