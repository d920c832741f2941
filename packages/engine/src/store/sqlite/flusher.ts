/**
 * Flushing the write-ahead log. A commit is in that file but perhaps not on the disk; a flush makes every commit before it
 * safe. Beside the work, one flush runs at a time and all that was committed meanwhile shares the next, so many sessions
 * cost hardly more than one. In place, the caller waits: on a quick disk that is sooner than another thread could say so.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs"
import { promisify } from "node:util"

import { sayFlushed } from "./say-aloud.ts"

export interface Flusher {
  /** Must be told of every commit. */
  readonly committed: () => void
  /** Everything committed so far is on the disk. */
  readonly isSafe: () => boolean
  /** Resolves when everything committed so far is on the disk. */
  readonly flushBeside: () => Promise<void>
  /** As far as we know, a flush takes hardly longer than asking another thread for it. */
  readonly isQuick: () => boolean
  /** Flushes in place. */
  readonly flush: () => void
  readonly close: () => void
}

/** A file is flushed by the system; a simulation decides how, so that no thread decides the order of things. */
export interface FlushFile {
  readonly beside: (descriptor: number) => Promise<void>
  readonly inPlace: (descriptor: number) => void
}

export interface FlusherOptions {
  readonly beforeFlush?: () => void
  readonly flushFile?: FlushFile
  /** Milliseconds that never go back. */
  readonly monotonic?: () => number
}

const REAL: FlushFile = { beside: promisify(fdatasync), inPlace: fdatasyncSync }

const QUICK_MS = 2

export const openFlusher = (file: string, options: FlusherOptions = {}): Flusher => {
  const { beforeFlush, flushFile = REAL, monotonic = () => performance.now() } = options
  let descriptor: number | undefined
  let commits = 0
  let safe = 0
  let quick = true
  /** The flush that runs, and how many commits it makes safe. */
  let running: { readonly done: Promise<void>; readonly through: number } | undefined
  let following: Promise<void> | undefined

  const open = (): number => {
    beforeFlush?.()
    // SQLite makes the file with the first commit and keeps it as long as a connection is open.
    descriptor ??= openSync(file, "r")
    return descriptor
  }

  const run = async (through: number): Promise<void> => {
    const began = monotonic()
    await flushFile.beside(open())
    const took = monotonic() - began
    sayFlushed(took)
    // Heard late when we were busy: that says nothing about the disk.
    if (took < QUICK_MS) quick = true
    safe = Math.max(safe, through)
  }

  const flush = (): void => {
    const began = monotonic()
    flushFile.inPlace(open())
    const took = monotonic() - began
    sayFlushed(took)
    quick = took < QUICK_MS
    safe = commits
  }

  const start = (): Promise<void> => {
    const through = commits
    const done = run(through).finally(() => {
      running = undefined
    })
    running = { done, through }
    return done
  }

  const flushBeside = (): Promise<void> => {
    if (safe === commits) return Promise.resolve()
    // It has not begun yet, so it will cover this commit too.
    if (following !== undefined) return following
    if (running === undefined) return start()
    if (running.through === commits) return running.done
    // The one that runs began before the last commit.
    following = running.done
      .catch(() => undefined)
      .then(() => {
        following = undefined
        return start()
      })
    return following
  }

  const close = (): void => {
    const end = (): void => {
      if (descriptor !== undefined) closeSync(descriptor)
    }
    // Never closed under a flush: the number could be another file's by then.
    const last = following ?? running?.done
    if (last === undefined) end()
    else void last.then(end, end)
  }

  return {
    committed: () => {
      commits += 1
    },
    isSafe: () => safe === commits,
    flushBeside,
    isQuick: () => quick,
    flush,
    close,
  }
}
