/**
 * Frames for one reader of server-sent events. Frames of one moment leave together; while the reader's connection is full
 * nothing more is read for it, so what waits in this process is bounded; a reader that takes nothing for too long is
 * told in the last frame and left.
 */
import type { ServerResponse } from "node:http"
import { setImmediate as nextRound } from "node:timers/promises"

import type { HttpLimits } from "./limits.ts"

export interface FrameWriter {
  /** Aborts when nothing more can be sent. */
  readonly ended: AbortSignal
  readonly send: (frame: string) => void
  /** Resolves when there is room for the next frame, or nobody reads any more. */
  readonly room: () => Promise<void>
  /** Sends what waits and this frame, then ends. */
  readonly end: (lastFrame: string) => void
}

export const makeFrameWriter = (options: {
  readonly response: ServerResponse
  readonly limits: HttpLimits
  /** The last frame of a reader that is left for being slow. */
  readonly slowFrame: () => string
}): FrameWriter => {
  const { response, limits, slowFrame } = options
  const ended = new AbortController()
  let waiting: string[] = []
  let size = 0
  let isScheduled = false
  let full: { readonly drained: Promise<void>; readonly release: () => void } | undefined
  let patience: NodeJS.Timeout | undefined

  const flush = (): void => {
    isScheduled = false
    if (waiting.length === 0 || ended.signal.aborted) return
    const text = waiting.join("")
    waiting = []
    size = 0
    if (response.write(text) || full !== undefined) return
    const { promise, resolve } = Promise.withResolvers<void>()
    full = { drained: promise, release: resolve }
    patience = setTimeout(() => {
      end(slowFrame())
      patience = setTimeout(() => response.destroy(), limits.farewellMs)
    }, limits.slowReaderMs)
  }

  const release = (): void => {
    if (!ended.signal.aborted) clearTimeout(patience)
    full?.release()
    full = undefined
  }

  const end = (lastFrame: string): void => {
    if (ended.signal.aborted) return
    flush()
    ended.abort()
    response.end(lastFrame)
    release()
  }

  response.on("drain", release)
  response.once("close", () => {
    ended.abort()
    release()
    clearTimeout(patience)
  })

  return {
    ended: ended.signal,
    send: (frame) => {
      if (ended.signal.aborted) return
      waiting.push(frame)
      size += frame.length
      if (isScheduled) return
      isScheduled = true
      setImmediate(flush)
    },
    room: async () => {
      if (size < limits.streamBytes && full === undefined) return
      flush()
      // A long replay to a fast reader must not keep the others waiting.
      if (full === undefined) await nextRound()
      else await full.drained
    },
    end,
  }
}
