/** One session's events to one reader: replay behind the cursor, a marker, then the tail, with live fragments if asked for. */
import type { ServerResponse } from "node:http"

import type { Engine, LiveItem, SessionEvent } from "@meridian/engine"
import { Failure, type Json } from "@meridian/protocol"

import { answerFailure, publicFailure, SAFE_HEADERS } from "./answer.ts"
import type { EventsInput } from "./contract.ts"
import { makeFrameWriter } from "./frame-writer.ts"
import type { HttpLimits } from "./limits.ts"

export interface EventStreams {
  /** Resolves when the stream is over; never rejects. */
  readonly open: (
    response: ServerResponse,
    asked: EventsInput,
    lastEventId: string | undefined,
  ) => Promise<void>
  /** Tells every reader that the server stops. */
  readonly close: () => void
}

export const makeEventStreams = (options: {
  readonly engine: Engine
  readonly limits: HttpLimits
  readonly log: (line: string) => void
}): EventStreams => {
  const { engine, limits, log } = options
  const readers = new Set<() => void>()

  const open: EventStreams["open"] = async (response, asked, lastEventId) => {
    const { sessionID, live = false, follow = true } = asked
    let after: number
    try {
      if (readers.size >= limits.streams) throw new Failure("STREAMS_FULL", { limit: limits.streams })
      after = await startOf(engine, asked, lastEventId)
    } catch (thrown) {
      answerFailure(response, publicFailure(thrown, log))
      return
    }
    const writer = makeFrameWriter({
      response,
      limits,
      slowFrame: () => closedFrame({ reason: "slow-reader", after }),
    })
    const { ended: signal } = writer
    const stop = (): void => writer.end(closedFrame({ reason: "server-stopping", after }))
    const heartbeat = setInterval(() => writer.send(HEARTBEAT), limits.heartbeatMs)
    readers.add(stop)
    response.writeHead(200, STREAM_HEADERS)
    response.write(RETRY)
    const tails: Promise<void>[] = []
    try {
      for await (const event of engine.sessions.events({ sessionID, after, follow }, { signal })) {
        writer.send(eventFrame(event))
        if (event.type !== "synced") after = event.seq
        else if (live) tails.push(sendLive(engine, sessionID, writer))
        await writer.room()
        if (signal.aborted) break
      }
      if (!follow) writer.send(namedFrame("synced", { type: "synced", data: { after }, time: Date.now() }))
      writer.end(closedFrame({ reason: follow ? "server-stopping" : "complete", after }))
    } catch (thrown) {
      const { code } = publicFailure(thrown, log)
      writer.end(closedFrame({ reason: "failed", code, after }))
    } finally {
      clearInterval(heartbeat)
      readers.delete(stop)
    }
    await Promise.all(tails)
  }

  return {
    open,
    close: () => {
      for (const stop of readers) stop()
    },
  }
}

const sendLive = async (
  engine: Engine,
  sessionID: string,
  writer: ReturnType<typeof makeFrameWriter>,
): Promise<void> => {
  try {
    for await (const item of engine.sessions.live(sessionID, { signal: writer.ended })) {
      writer.send(liveFrame(item))
      await writer.room()
    }
  } catch {
    // The durable stream beside it ends for the same reason and says so.
  }
}

/** `Last-Event-ID` goes first: a browser that reconnects sends it with the address it began with. */
const startOf = async (
  engine: Engine,
  { sessionID, after = 0 }: EventsInput,
  lastEventId: string | undefined,
): Promise<number> => {
  const given = lastEventId === undefined || lastEventId === "" ? String(after) : lastEventId
  const { seq } = await engine.sessions.get(sessionID)
  const start = /^\d{1,15}$/.test(given) ? Number(given) : undefined
  // Behind the end of the log: from another database, and whoever waited there would miss what comes before it.
  if (start === undefined || start > seq) throw new Failure("INVALID_CURSOR")
  return start
}

const STREAM_HEADERS = {
  ...SAFE_HEADERS,
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
}

const RETRY = "retry: 1000\n\n"
const HEARTBEAT = ": heartbeat\n\n"

const eventFrame = (event: SessionEvent): string =>
  event.type === "synced"
    ? namedFrame("synced", event)
    : `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`

const liveFrame = (item: LiveItem): string => namedFrame(item.type === "dropped" ? "dropped" : "live", item)

const closedFrame = (data: Readonly<Record<string, Json>>): string =>
  namedFrame("closed", { type: "closed", data })

/** JSON has no raw newlines, so one data line is enough. */
const namedFrame = (name: string, document: object): string =>
  `event: ${name}\ndata: ${JSON.stringify(document)}\n\n`
