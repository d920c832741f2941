/**
 * Writes frames of server-sent events to one reader. While the reader's connection is full, nothing more is read for it, so
 * that waiting data in this process stays bounded. A reader that takes nothing for too long gets a last frame with the
 * reason and is dropped.
 */
import type { ServerResponse } from "node:http"
import { setImmediate as nextRound } from "node:timers/promises"

import type { HttpLimits } from "./limits.ts"
import type { Outgoing } from "./outgoing.ts"
import { makeOutlet } from "./outlet.ts"

export interface FrameWriter {
  /** Aborts when nothing more can be sent. */
  readonly ended: AbortSignal
  /** Returns whether there is room for more. If not, `room` reports when there is. */
  readonly write: (frames: string | Uint8Array) => boolean
  /** Like `write`, but batched with other frames of the same moment: for many small ones. */
  readonly gather: (frame: string) => void
  /** Makes and writes a page of the log, when there is room and no page of another reader is being made. */
  readonly makeLarge: <Made>(make: () => Promise<Made>) => Promise<Made>
  /** Resolves when there is room for more, or the reader is gone. */
  readonly room: () => Promise<void>
  /** Sends what is waiting and this frame, then ends. */
  readonly end: (lastFrame: string) => void
}

export const makeFrameWriter = (options: {
  readonly response: ServerResponse
  readonly outgoing: Outgoing
  readonly limits: Pick<HttpLimits, "farewellMs">
  /** The last frame for a reader that is dropped for being slow. */
  readonly slowFrame: () => string
}): FrameWriter => {
  const { response, outgoing, limits, slowFrame } = options
  const ended = new AbortController()
  let gathered: string[] = []
  let farewell: NodeJS.Timeout | undefined
  /** Wakes the caller that waits for room. */
  let wake = (): void => undefined

  const outlet = makeOutlet({
    response,
    outgoing,
    drop: (why) => {
      end(slowFrame())
      if (why === "pressure") response.destroy()
      else farewell = setTimeout(() => response.destroy(), limits.farewellMs)
    },
  })

  const flush = (): void => {
    if (gathered.length === 0 || ended.signal.aborted) return
    const frames = gathered.join("")
    gathered = []
    outlet.put(frames)
  }

  const end = (lastFrame: string): void => {
    if (ended.signal.aborted) return
    flush()
    ended.abort()
    outlet.end(lastFrame)
    wake()
  }

  response.once("close", () => {
    ended.abort()
    clearTimeout(farewell)
    wake()
  })

  return {
    ended: ended.signal,
    write: (frames) => {
      if (ended.signal.aborted) return false
      flush()
      outlet.put(frames)
      return outlet.taken() === undefined
    },
    gather: (frame) => {
      if (ended.signal.aborted) return
      if (gathered.length === 0) setImmediate(flush)
      gathered.push(frame)
    },
    makeLarge: (make) => outgoing.makeLarge(response, make),
    room: async () => {
      const taken = outlet.taken()
      // A long replay to a fast reader must not keep the other readers waiting.
      if (taken === undefined) await nextRound()
      else
        await new Promise<void>((resolve) => {
          wake = resolve
          void taken.then(resolve)
        })
      if (!ended.signal.aborted && !outgoing.hasRoom(response.socket)) await outgoing.room(response)
    },
    end,
  }
}
