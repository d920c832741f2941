/**
 * Sends one session to one reader: the log from the cursor on, a marker, then new events, and live fragments on request.
 */
import type { Engine, EventFrames } from "@meridian/engine"
import { Failure } from "@meridian/protocol"

import type { EventsInput } from "../contract/contract.ts"
import type { EventFeeds } from "./event-feeds.ts"
import type { FrameWriter } from "./frame-writer.ts"
import { liveFrame, syncedFrame } from "./frames.ts"
import type { StreamSource } from "./streams.ts"

export const eventSource = (options: {
  readonly engine: Engine
  readonly feeds: EventFeeds
  readonly asked: EventsInput
  readonly lastEventId: string | undefined
}): StreamSource => {
  const { engine, feeds, asked, lastEventId } = options
  const { sessionID, live = false, follow = true } = asked
  let after = 0

  const sendPage = async (writer: FrameWriter): Promise<"more" | "end"> => {
    const page = await engine.sessions.eventPage({ sessionID, after })
    if (page === undefined) return "end"
    writer.write(page.frames)
    after = page.last
    return page.more && !writer.ended.aborted ? "more" : "end"
  }

  /** Sends page by page when there is room. While we wait for a reader, it holds no page of the log. */
  const replay = async (writer: FrameWriter): Promise<void> => {
    while ((await writer.makeLarge(() => sendPage(writer))) === "more") await writer.room()
  }

  const take = (writer: FrameWriter, news: EventFrames): boolean => {
    if (news.last <= after) return true
    // The news do not continue this reader's position. It reads the log itself and comes back.
    if (news.first !== after + 1) return false
    after = news.last
    return writer.write(news.frames)
  }

  return {
    place: () => ({ after }),
    begin: async () => {
      after = await startOf(engine, asked, lastEventId)
    },
    send: async (writer) => {
      const { ended: signal } = writer
      await replay(writer)
      writer.write(syncedFrame(after, Date.now()))
      if (!follow) return "complete"
      const fragments = live ? sendLive(engine, sessionID, writer) : undefined
      while (!signal.aborted) {
        await feeds.follow(sessionID, { after: () => after, take: (news) => take(writer, news), signal })
        await writer.room()
        await replay(writer)
      }
      await fragments
      return "server-stopping"
    },
  }
}

/** The live output of a session in this process alone. */
export const liveSource = (engine: Engine, sessionID: string): StreamSource => ({
  place: () => ({}),
  begin: async () => void (await engine.sessions.get(sessionID)),
  send: async (writer) => {
    for await (const item of engine.sessions.ownLive(sessionID, { signal: writer.ended })) {
      writer.gather(liveFrame(item))
      await writer.room()
    }
    return "server-stopping"
  },
})

const sendLive = async (engine: Engine, sessionID: string, writer: FrameWriter): Promise<void> => {
  try {
    for await (const item of engine.sessions.live(sessionID, { signal: writer.ended })) {
      writer.gather(liveFrame(item))
      await writer.room()
    }
  } catch {
    // The durable stream beside it ends for the same reason and reports it.
  }
}

/** `Last-Event-ID` wins: a browser that reconnects sends it together with the address it started with. */
const startOf = async (
  engine: Engine,
  { sessionID, after = 0 }: EventsInput,
  lastEventId: string | undefined,
): Promise<number> => {
  const given = lastEventId === undefined || lastEventId === "" ? String(after) : lastEventId
  const { seq } = await engine.sessions.get(sessionID)
  const start = /^\d{1,15}$/.test(given) ? Number(given) : undefined
  // A cursor beyond the end of the log belongs to another database. Waiting there would miss events.
  if (start === undefined || start > seq) throw new Failure("INVALID_CURSOR")
  return start
}
