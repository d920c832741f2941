/**
 * New events of a session, for all readers that are up to date. The log is read and the frames are made only once, however
 * many readers there are. A reader that cannot keep up leaves, reads the log itself, and comes back.
 */
import type { Engine, EventFrames } from "@meridian/engine"

export interface FeedMember {
  /** The last sequence that the member has. */
  readonly after: () => number
  /** False: the member leaves. */
  readonly take: (news: EventFrames) => boolean
  readonly signal: AbortSignal
}

export interface EventFeeds {
  /** Resolves when the member has left or fallen behind, or the engine is closed; rejects when the log cannot be read. */
  readonly follow: (sessionID: string, member: FeedMember) => Promise<void>
  /** How many sessions are followed. */
  readonly count: () => number
}

interface Feed {
  readonly members: Map<FeedMember, (cause?: Error) => void>
  readonly stop: AbortController
  /** The last sequence that was passed on. */
  cursor: number
}

export const makeEventFeeds = (engine: Engine): EventFeeds => {
  const feeds = new Map<string, Feed>()

  const close = (sessionID: string, feed: Feed, cause?: Error): void => {
    if (feeds.get(sessionID) === feed) feeds.delete(sessionID)
    feed.stop.abort()
    for (const leave of feed.members.values()) leave(cause)
  }

  const run = async (sessionID: string, feed: Feed): Promise<void> => {
    const asked = { sessionID, after: feed.cursor, follow: true }
    for await (const news of engine.sessions.eventFrames(asked, { signal: feed.stop.signal })) {
      feed.cursor = news.last
      for (const [member, leave] of feed.members) if (!member.take(news)) leave()
    }
  }

  const open = (sessionID: string, cursor: number): Feed => {
    const feed: Feed = { members: new Map(), stop: new AbortController(), cursor }
    feeds.set(sessionID, feed)
    run(sessionID, feed).then(
      () => close(sessionID, feed),
      (cause: Error) => close(sessionID, feed, cause),
    )
    return feed
  }

  return {
    count: () => feeds.size,
    follow: (sessionID, member) =>
      new Promise((resolve, reject) => {
        const feed = feeds.get(sessionID) ?? open(sessionID, member.after())
        // The feed is already ahead of this reader, which must read the rest from the log.
        if (feed.cursor > member.after() || member.signal.aborted) {
          if (feed.members.size === 0) close(sessionID, feed)
          resolve()
          return
        }
        const leave = (cause?: Error): void => {
          feed.members.delete(member)
          member.signal.removeEventListener("abort", onAbort)
          if (feed.members.size === 0) close(sessionID, feed)
          if (cause === undefined) resolve()
          else reject(cause)
        }
        const onAbort = (): void => leave()
        member.signal.addEventListener("abort", onAbort)
        feed.members.set(member, leave)
      }),
  }
}
