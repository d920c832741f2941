/**
 * Flushes the write-ahead log. A commit is in that file but perhaps not on the disk; a flush makes every earlier commit
 * safe. Beside the work, one flush runs at a time, and all commits made during it share the next, so many sessions cost
 * hardly more than one. In place, the caller waits; on a fast disk that is quicker than a message from another thread.
 *
 * A failed flush is not forgotten. The system drops what it could not write and reports it once. The next flush succeeds
 * and leaves a hole, and after a power cut nothing behind a hole is read. So a log whose flush failed is mended first
 * (`mend-log.ts`), and until that has worked nothing is reported as safe.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs"
import { promisify } from "node:util"

import { machineMs } from "../../port/machine-time.ts"
import { sayFlushed } from "../../port/say-aloud.ts"

export interface Flusher {
  /** The descriptor of the log while the flusher is open. */
  readonly descriptor: number
  /** Must be called after every commit. */
  readonly committed: () => void
  /** Must be called when SQLite itself failed to write or to flush. */
  readonly distrust: () => void
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

/**
 * How to flush a file. By default the system does; a simulation replaces it so that no thread decides the order of events.
 */
export interface FlushFile {
  readonly beside: (descriptor: number) => Promise<void>
  readonly inPlace: (descriptor: number) => void
}

/**
 * What we know of the bytes in the log. `inherited`: an earlier process wrote some, and there is no way to ask whether its
 * last flush failed. `torn`: a flush failed.
 */
export type LogState = "sound" | "inherited" | "torn"

export interface UnsoundLog {
  readonly state: Exclude<LogState, "sound">
  readonly descriptor: number
  readonly flush: () => void
}

export interface FlusherOptions {
  /** The log was not empty when we opened it. */
  readonly isInherited?: boolean
  /** Called when a flush has failed. */
  readonly onTorn?: () => void
  /** Makes a log sound again, except for the flush that follows. Throws when it cannot. */
  readonly mend?: (log: UnsoundLog) => void
  readonly beforeFlush?: () => void
  readonly flushFile?: FlushFile
  /** Milliseconds that never go back. The store passes its Clock's; a flusher on its own uses the machine's. */
  readonly monotonic?: () => number
}

const REAL: FlushFile = { beside: promisify(fdatasync), inPlace: fdatasyncSync }

const QUICK_MS = 2

export const openFlusher = (file: string, options: FlusherOptions = {}): Flusher => {
  const { onTorn, mend, beforeFlush, flushFile = REAL, monotonic = machineMs } = options
  // Opened before anything is flushed: the system reports a failure only to processes that already had the file open.
  const descriptor = openSync(file, "r+")
  let state: LogState = options.isInherited === true ? "inherited" : "sound"
  let failures = 0
  let commits = 0
  let safe = 0
  let quick = true
  /** The running flush, and how many commits it makes safe. */
  let running: { readonly done: Promise<void>; readonly through: number } | undefined
  let following: Promise<void> | undefined

  const distrust = (): void => {
    state = "torn"
    failures += 1
    onTorn?.()
  }

  const prepare = (): void => {
    beforeFlush?.()
    if (state !== "sound") mend?.({ state, descriptor, flush: () => flushFile.inPlace(descriptor) })
  }

  /** The system reports a failure to only one of several simultaneous flushes. It holds for all of them. */
  const succeed = (through: number, failuresBefore: number): void => {
    if (failures !== failuresBefore) throw new LogTorn()
    state = "sound"
    safe = Math.max(safe, through)
  }

  const run = async (through: number): Promise<void> => {
    const failuresBefore = failures
    const began = monotonic()
    try {
      prepare()
      await flushFile.beside(descriptor)
    } catch (cause) {
      distrust()
      throw cause
    }
    const took = monotonic() - began
    sayFlushed(took)
    // A late answer while we were busy says nothing about the disk.
    if (took < QUICK_MS) quick = true
    succeed(through, failuresBefore)
  }

  const flush = (): void => {
    const failuresBefore = failures
    const began = monotonic()
    try {
      prepare()
      flushFile.inPlace(descriptor)
    } catch (cause) {
      distrust()
      throw cause
    }
    const took = monotonic() - began
    sayFlushed(took)
    quick = took < QUICK_MS
    succeed(commits, failuresBefore)
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
    // The running flush began before the last commit.
    following = running.done
      .catch(() => undefined)
      .then(() => {
        following = undefined
        return start()
      })
    return following
  }

  const close = (): void => {
    const end = (): void => closeSync(descriptor)
    // Never closed during a flush: the descriptor's number could belong to another file by then.
    const last = following ?? running?.done
    if (last === undefined) end()
    else void last.then(end, end)
  }

  return {
    descriptor,
    committed: () => {
      commits += 1
    },
    distrust,
    isSafe: () => safe === commits,
    flushBeside,
    isQuick: () => quick,
    flush,
    close,
  }
}

/** Another flush of the same file failed while this one ran. The code identifies it when failures are translated. */
class LogTorn extends Error {
  readonly code = "EIO"
  constructor() {
    super("another flush of the log failed")
  }
}
