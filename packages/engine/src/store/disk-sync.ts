/**
 * Waiting for the disk beside the work instead of in its way. A commit with `synchronous=NORMAL` is in the write-ahead log
 * but perhaps not on the disk yet; flushing that file makes every commit before it safe. One flush runs at a time, and all
 * that was committed while it ran shares the next: many sessions cost hardly more than one.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs"
import { promisify } from "node:util"

export interface DiskSync {
  /** To be told of every commit, and whether SQLite has flushed it: that makes the earlier ones safe too. */
  readonly committed: (flushed: boolean) => void
  /** Everything committed so far is on the disk. */
  readonly isSafe: () => boolean
  /** Resolves when it is. */
  readonly synced: () => Promise<void>
  /** As far as we know, a flush takes hardly longer than handing it to another thread does. */
  readonly isQuick: () => boolean
  /** Flushes in place. */
  readonly flush: () => void
  readonly close: () => void
}

const QUICK_MS = 2

const flushBeside = promisify(fdatasync)

export const openDiskSync = (file: string, beforeFlush: () => void = () => undefined): DiskSync => {
  let descriptor: number | undefined
  let commits = 0
  let safe = 0
  let quick = true
  /** The flush that runs, and how many commits it makes safe. */
  let running: { readonly done: Promise<void>; readonly through: number } | undefined
  let following: Promise<void> | undefined

  const open = (): number => {
    beforeFlush()
    // SQLite makes the file with the first commit and keeps it as long as a connection is open.
    descriptor ??= openSync(`${file}-wal`, "r")
    return descriptor
  }

  const run = async (through: number): Promise<void> => {
    const began = performance.now()
    await flushBeside(open())
    // Heard late when we were busy: that says nothing about the disk.
    if (performance.now() - began < QUICK_MS) quick = true
    safe = Math.max(safe, through)
  }

  const flush = (): void => {
    const began = performance.now()
    fdatasyncSync(open())
    quick = performance.now() - began < QUICK_MS
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

  const synced = (): Promise<void> => {
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
    committed: (flushed) => {
      commits += 1
      if (flushed) safe = commits
    },
    isSafe: () => safe === commits,
    synced,
    isQuick: () => quick,
    flush,
    close,
  }
}
