/** Open streams of server-sent events: their number, their heartbeat, and the last frame when one ends. */
import type { ServerResponse } from "node:http"

import { Failure, type Json } from "@meridian/protocol"

import { answerFailure, publicFailure, SAFE_HEADERS } from "./answer.ts"
import { makeFrameWriter, type FrameWriter } from "./frame-writer.ts"
import { closedFrame, HEARTBEAT, RETRY } from "./frames.ts"
import type { HttpLimits } from "./limits.ts"
import type { Outgoing } from "./outgoing.ts"

export interface StreamSource {
  /** Fails while the answer can still report it. */
  readonly begin: () => Promise<void>
  /** Sends until the source or the reader ends. */
  readonly send: (writer: FrameWriter) => Promise<"complete" | "server-stopping">
  /** Where the reader can continue, for the last frame. */
  readonly place: () => Readonly<Record<string, Json>>
}

export interface Streams {
  /** Resolves when the stream is over; never rejects. */
  readonly open: (response: ServerResponse, source: StreamSource) => Promise<void>
  readonly count: () => number
  /** Tells every reader that the server stops. */
  readonly close: () => void
}

export const makeStreams = (options: {
  readonly limits: HttpLimits
  readonly outgoing: Outgoing
  readonly log: (line: string) => void
}): Streams => {
  const { limits, outgoing, log } = options
  const writers = new Set<() => void>()
  let count = 0

  const run = async (response: ServerResponse, source: StreamSource): Promise<void> => {
    const last = (data: Readonly<Record<string, Json>>): string => closedFrame({ ...data, ...source.place() })
    const writer = makeFrameWriter({
      response,
      outgoing,
      limits,
      slowFrame: () => last({ reason: "slow-reader" }),
    })
    const stop = (): void => writer.end(last({ reason: "server-stopping" }))
    const heartbeat = setInterval(() => writer.gather(HEARTBEAT), limits.heartbeatMs)
    writers.add(stop)
    response.writeHead(200, STREAM_HEADERS)
    response.write(RETRY)
    try {
      const reason = await source.send(writer)
      writer.end(last({ reason }))
    } catch (thrown) {
      const { code } = publicFailure(thrown, log)
      writer.end(last(code === "ENGINE_CLOSED" ? { reason: "server-stopping" } : { reason: "failed", code }))
    } finally {
      clearInterval(heartbeat)
      writers.delete(stop)
    }
  }

  return {
    open: async (response, source) => {
      if (count >= limits.streams) {
        answerFailure(response, new Failure("STREAMS_FULL", { limit: limits.streams }))
        return
      }
      count += 1
      try {
        await source.begin()
        await outgoing.room(response)
        if (response.req.method === "HEAD") response.writeHead(200, STREAM_HEADERS).end()
        else if (!response.destroyed) await run(response, source)
      } catch (thrown) {
        answerFailure(response, publicFailure(thrown, log))
      } finally {
        count -= 1
      }
    },
    count: () => count,
    close: () => {
      for (const stop of writers) stop()
    },
  }
}

const STREAM_HEADERS = {
  ...SAFE_HEADERS,
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
}
