/**
 * Frames for one reader of server-sent events. While the reader's connection is full nothing more is read for it, so what
 * waits in this process is bounded; a reader that takes nothing for too long is told in the last frame and left.
 */
import type { ServerResponse } from "node:http"
import { setImmediate as nextRound } from "node:timers/promises"

import type { HttpLimits } from "./limits.ts"

export interface FrameWriter {
  /** Aborts when nothing more can be sent. */
  readonly ended: AbortSignal
  /** Whether there is room for more; if not, `room` says when. */
  readonly write: (frames: string | Buffer) => boolean
  /** Like `write`, but batched with others of the same moment: for many small frames. */
  readonly gather: (frame: string) => void
  /** Resolves when there is room for more, or nobody reads any more. */
  readonly room: () => Promise<void>
  /** Sends what is waiting and this frame, then ends. */
  readonly end: (lastFrame: string) => void
}

export const makeFrameWriter = (options: {
  readonly response: ServerResponse
  readonly limits: Pick<HttpLimits, "slowReaderMs" | "farewellMs">
  /** The last frame for a reader that is dropped for being slow. */
  readonly slowFrame: () => string
}): FrameWriter => {
  const { response, limits, slowFrame } = options
  const ended = new AbortController()
  let gathered: string[] = []
  let full: { readonly drained: Promise<void>; readonly release: () => void } | undefined
  let patience: NodeJS.Timeout | undefined

  const put = (frames: string | Buffer): void => {
    if (response.write(frames) || full !== undefined) return
    const { promise, resolve } = Promise.withResolvers<void>()
    full = { drained: promise, release: resolve }
    patience = setTimeout(() => {
      end(slowFrame())
      patience = setTimeout(() => response.destroy(), limits.farewellMs)
    }, limits.slowReaderMs)
  }

  const flush = (): void => {
    if (gathered.length === 0 || ended.signal.aborted) return
    const frames = gathered.join("")
    gathered = []
    put(frames)
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
    write: (frames) => {
      if (ended.signal.aborted) return false
      flush()
      put(frames)
      return full === undefined
    },
    gather: (frame) => {
      if (ended.signal.aborted) return
      if (gathered.length === 0) setImmediate(flush)
      gathered.push(frame)
    },
    room: async () => {
      // A long replay to a fast reader must not keep the others waiting.
      if (full === undefined) await nextRound()
      else await full.drained
    },
    end,
  }
}
