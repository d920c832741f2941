/**
 * New events of a session, for all readers that are up to date: the log is read once and the frames are made once, however many
 * readers there are. A reader that cannot keep up leaves, reads the log itself, and comes back.
 */
import type { Engine, EventFrames } from "@meridian/engine"

export interface FeedMember {
  /** The last sequence it has. */
  readonly after: () => number
  /** False: it leaves. */
  readonly take: (news: EventFrames) => boolean
  readonly signal: AbortSignal
}

export interface EventFeeds {
  /** Resolves when the member has left, has fallen behind, or the engine is closed; rejects when the log cannot be read. */
  readonly follow: (sessionID: string, member: FeedMember) => Promise<void>
  /** Sessions that somebody follows. */
  readonly count: () => number
}

interface Feed {
  readonly members: Map<FeedMember, (cause?: Error) => void>
  readonly stop: AbortController
  /** The last sequence that was handed on. */
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
        // The feed is already ahead of this reader; the log has what is missing.
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
